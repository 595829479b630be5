"""German."""

from __future__ import annotations

from types import MappingProxyType

from companion.languages.language import Language

GERMAN = Language(
    players=MappingProxyType(
        {"R": "Rot", "G": "Grün", "B": "Blau", "Y": "Gelb", "S": "Süd", "N": "Nord"},
    ),
    texts=MappingProxyType(
        {
            "turn": "{next} ist am Zug.",
            "start": "Die Partie beginnt.",
            "accepted": "{player} hat {move} gezogen.",
            "illegal": "{player}: {attempt} ist nicht erlaubt ({rules}). {reason}. {back}",
            "illegal.table": "{player}: Das ist nicht erlaubt ({rules}). {reason}. {back}",
            "back": "{cells}: bitte zurückstellen.",
            "back.move": "Bitte {piece} von {source} zurück auf {target} stellen.",
            "back.moves": "Bitte die oberen {n} Steine von {source} zurück auf {target} stellen.",
            "back.off": "Bitte {piece} von {source} wegnehmen.",
            "back.offs": "Bitte die oberen {n} Steine von {source} wegnehmen.",
            "back.on": "Bitte {piece} zurück auf {target} stellen.",
            "back.ons": "Bitte {n} Steine zurück auf {target} stellen.",
            "back.lower": "Bitte die Säule {target} auf Stufe {level} senken.",
            "back.raise": "Bitte die Säule {target} auf Stufe {level} heben.",
            "piece": "den Stein",
            "piece.coloured": "den {colour} Stein",
            "piece.of": "den Stein von {name}",
            "did.move": "{player} hat einen Stein von {source} nach {target} gezogen",
            "did.moves": "{player} hat {n} Steine von {source} nach {target} gezogen",
            "did.place": "{player} hat einen Stein aus der Reserve auf {target} gesetzt",
            "did.off": "{player} hat einen Stein von {source} vom Brett genommen",
            "did.exchange": "{player} hat den Stein auf {source} gegen einen auf {target} getauscht",
            "did.raise": "{player} hat die Säule {target} gehoben",
            "did.lower": "{player} hat die Säule {target} gesenkt",
            "unfinished": "Der Zug ist noch nicht zu Ende: {todo}.",
            "unfinished.set-up": "Bitte aufstellen: {todo}.",
            "unfinished.unmoved": "Noch nicht: Es ist nichts gezogen worden; erst ziehen, dann „fertig“ melden.",
            "restored": "Das Brett stimmt wieder.",
            "withdrawn": "Der Vorwurf gegen {player} ist zurückgenommen: {cells} war falsch gelesen.",
            "taken-back": "Zurückgenommen: {moves}.",
            "unsure": "Welcher Zug war es: {options}?",
            "unsure.one": "Wurde {options} gezogen?",
            "unsure.one-hand": (
                "Wurde {options} gezogen, jeder Zug von seinem Spieler? "
                "War es einer allein, bitte mit Nein antworten und zurückstellen."
            ),
            "unsure.table": "Ist etwas verändert worden, das nicht sollte? Bitte das Brett prüfen.",
            "unsure.squares": "Ist etwas verändert worden, das nicht sollte? Bitte prüfen: {cells}.",
            "corrected.position": "{by} hat die Stellung gesetzt.",
            "corrected": "{by} entscheidet: Gezogen wurde {move}.",
            "view": "Kamera: {state}.",
            "view.clear": "Das Brett ist zu sehen.",
            "view.hand": "Eine Hand ist über dem Brett.",
            "view.blocked": "Etwas steht vor dem Brett; bitte wegnehmen.",
            "view.no-mat": "Die Matte ist nicht zu sehen; bitte ihre Eckmarken frei machen.",
            "view.moved": "Kamera oder Matte wurde verschoben; sie wird neu eingemessen.",
            "view.dark": "Es ist zu dunkel; bitte Licht machen.",
            "view.noise": "Das Bild rauscht und kommt nicht zur Ruhe; bitte mehr Licht machen.",
            "view.flicker": "Das Licht flackert; bitte die Netzfrequenz einstellen oder die Lampe wechseln.",
            "view.shaking": "Die Kamera wackelt; bitte befestigen, aber nicht am Tisch.",
            "view.slow": (
                "Es kommen zu wenige Bilder: Rechner oder Netz sind zu langsam. Was falsch aussieht, wird erfragt."
            ),
            "view.unread": "Das Bild ist nicht zu lesen, durch einen Fehler im Programm. Das nächste wird versucht.",
            "view.camera-lost": "Die Kamera ist weg; bitte das Kabel prüfen.",
            "sensors": "Säulensensoren: {state}.",
            "sensors.ok": "Die Säulensensoren arbeiten.",
            "sensors.lost": "Die Säulensensoren schweigen; bitte das Kabel prüfen.",
            "sensors.fault": "Die Säulensensoren von {cells} sind gestört.",
            "skipped": "{player} kann nicht ziehen und setzt aus.",
            "repeated": "Diese Stellung steht zum {times}. Mal auf dem Brett.",
            "game-over": "{winner} gewinnt ({rule}).",
            "part.arbiter": "Entscheid des Schiedsrichters",
            "part.agreed": "vereinbart",
            "game-over.drawn": "Die Partie ist unentschieden ({rule}).",
            "clock": "Uhr: {left}.",
            "clock.flag": "Die Zeit von {player} ist abgelaufen.",
            "saved": "Alles ist wieder gesichert.",
            "paused": "Die Partie ruht; niemand achtet auf das Brett.",
            "resumed": "Die Partie geht weiter.",
            "part.holds": "auf {cell} muss {stack} stehen",
            "part.empty": "{cell} muss leer sein",
            "part.stands": "Säule {cell} muss auf Stufe {level} stehen",
            "part.cells": "Felder {cells}",
            "offer": "War es {move}?",
            "put-right": "Ist etwas verändert worden, dann bitte richtigstellen; wenn nicht, „zurück“ drücken.",
            "refused": "Das geht jetzt nicht.",
            "undo.restoring": "Erst zurückstellen, was falsch liegt.",
        }
    ),
    titles=MappingProxyType(
        {
            "G-1": "Reihenfolge",
            "G-2": "Eines nach dem anderen",
            "G-3": "Aussetzen",
            "G-4": "Wiederholung",
            "G-5": "Nach dem Ende",
        }
    ),
    explained=MappingProxyType(
        {
            "G-1": (
                "Die Spieler ziehen der Reihe nach; wer an der Reihe ist, macht genau einen Zug. "
                "Nur wer am Zug ist, darf das Brett verändern."
            ),
            "G-2": (
                "Ein Zug wird mit Steinen eines Stapels gemacht (oder einem Stein der Reserve, einer Säule); "
                "nichts sonst auf dem Brett darf berührt oder verschoben werden."
            ),
            "G-3": "Wer keinen erlaubten Zug hat, setzt aus; kann niemand ziehen, ist die Partie unentschieden.",
            "G-4": "Dieselbe Stellung zum dritten Mal ist ein Remis, das die Partie meldet.",
            "G-5": "Nach dem Ende der Partie ist kein Zug mehr erlaubt.",
        }
    ),
    colours=MappingProxyType(
        {
            "Rot": "roten",
            "Grün": "grünen",
            "Blau": "blauen",
            "Gelb": "gelben",
            "Schwarz": "schwarzen",
            "Weiß": "weißen",
        }
    ),
    either="oder",
    both="und",
    voice="de",
    signs=MappingProxyType(
        {
            "to": "nach",
            "off": "vom Brett",
            "=": "tauscht mit",
            "*": "aus der Reserve auf",
            "+": "hinauf",
            "-": "hinunter",
            ":": "mit {count}",
            "x": "schlägt",
        }
    ),
    troubles=MappingProxyType(
        {
            "the picture is too dark: switch a lamp on": "das Bild ist zu dunkel: bitte eine Lampe einschalten",
            "the picture is too dark: switch a lamp on or lengthen the exposure": (
                "das Bild ist zu dunkel: bitte eine Lampe einschalten oder länger belichten"
            ),
            "the picture is overexposed: lower the exposure, or turn the lamp away": (
                "das Bild ist überbelichtet: bitte kürzer belichten oder die Lampe wegdrehen"
            ),
            "the picture is blurred: focus the lens, and hold the camera still": (
                "das Bild ist unscharf: bitte scharf stellen und die Kamera still halten"
            ),
            "the picture is {width} x {height} px, the camera file is for {its_width} x {its_height} px; "
            "calibrate the lens at this size": (
                "das Bild hat {width} x {height} px, die Kameradatei gilt für {its_width} x {its_height} px; "
                "bitte die Linse in dieser Größe vermessen"
            ),
            "the mat is not in view: {found} of its markers {ids} found; {why}": (
                "die Matte ist nicht zu sehen: von ihren Marken {ids} ist {found} gefunden; {why}"
            ),
            "none": "keine",
            "only marker {id}": "nur Marke {id}",
            "nothing at all is to be seen: is the lens covered?": "es ist gar nichts zu sehen: ist die Linse verdeckt?",
            "something glares in the picture: turn lamp or camera, and show the whole mat": (
                "im Bild blendet etwas: bitte Lampe oder Kamera drehen und die ganze Matte zeigen"
            ),
            "show the whole mat, with nothing over its markers, in focus and in light": (
                "bitte die ganze Matte zeigen, alle Marken frei, scharf und hell"
            ),
            "another mat is in view ({other}); the kit {kit} has markers {ids}: choose the kit of this mat": (
                "eine andere Matte ist zu sehen ({other}); der Satz {kit} hat die Marken {ids}: "
                "bitte den Satz dieser Matte wählen"
            ),
            "that of {kit}: markers {ids}": "die von {kit}: Marken {ids}",
            "markers {ids}": "Marken {ids}",
            "only part of the board is in the picture, {cells} not: show all of it": (
                "nur ein Teil des Bretts ist im Bild, {cells} nicht: bitte das ganze zeigen"
            ),
            "the markers cannot be seen from above; is the picture mirrored?": (
                "die Marken sind nicht von oben zu sehen; ist das Bild gespiegelt?"
            ),
            "the markers contradict each other (reprojection error {error} px); is the mat flat, whole, and of this "
            "kit, and the camera file of this camera?": (
                "die Marken widersprechen sich (Abbildungsfehler {error} px); ist die Matte flach, ganz und von diesem "
                "Satz, und die Kameradatei von dieser Kamera?"
            ),
            "the markers {ids} alone do not tell where {cells} lie: show marker {hidden} too": (
                "die Marken {ids} allein verraten nicht, wo {cells} liegen: bitte auch Marke {hidden} zeigen"
            ),
            "it cannot be told where the mat of {kit} lies: show one such mat only, and larger in the picture": (
                "wo die Matte von {kit} liegt, ist nicht zu erkennen: bitte nur eine solche zeigen, und größer im Bild"
            ),
            "the mat is overexposed: lower the exposure": "die Matte ist überbelichtet: bitte kürzer belichten",
            "too little of the bare mat is to be seen: uncover it, or lower the exposure": (
                "von der bloßen Matte ist zu wenig zu sehen: bitte frei machen oder kürzer belichten"
            ),
            "the kit {kit} has no [enrol] squares: name a square for one piece of each kind": (
                "der Satz {kit} hat keine Felder unter [enrol]: bitte für einen Stein jeder Art ein Feld nennen"
            ),
            "the layout is empty: name a square for one piece of each kind": (
                "die Aufstellung ist leer: bitte für einen Stein jeder Art ein Feld nennen"
            ),
            "no {piece} lies uppermost in this layout: show one piece of every kind": (
                "in dieser Aufstellung liegt kein {piece} obenauf: bitte von jeder Art einen Stein zeigen"
            ),
            "a square lies outside the picture: show the whole mat": (
                "ein Feld liegt außerhalb des Bildes: bitte die ganze Matte zeigen"
            ),
            "{cell} should hold {wanted} but looks {seen}; set the pieces as [enrol] says": (
                "{cell}: erwartet {wanted}, gesehen {seen}; bitte die Steine so stellen, wie [enrol] sagt"
            ),
            "{cell} should hold {wanted} but looks {seen}; set the pieces as [enrol] says, where no lamp glares": (
                "{cell}: erwartet {wanted}, gesehen {seen}; bitte die Steine so stellen, wie [enrol] sagt, wo keine "
                "Lampe blendet"
            ),
            "{cell} should hold {wanted} but looks {seen}; set the pieces as the layout says, where no lamp glares": (
                "{cell}: erwartet {wanted}, gesehen {seen}; bitte die Steine so stellen, wie die Aufstellung sagt, wo "
                "keine Lampe blendet"
            ),
            "{cell} should hold {wanted} but looks {seen}; set the pieces as the layout says": (
                "{cell}: erwartet {wanted}, gesehen {seen}; bitte die Steine so stellen, wie die Aufstellung sagt"
            ),
            "{one} and {other} cannot be told apart by their colours here: take pieces whose colours differ more, or "
            "other light": (
                "{one} und {other} sind hier an der Farbe nicht zu unterscheiden: bitte Steine nehmen, deren Farben "
                "sich mehr unterscheiden, oder anderes Licht"
            ),
            "{one} and {other} look alike; set the pieces as [enrol] says, where they mirror no lamp; if they stand "
            "right, bring the camera nearer or take larger pictures: a millimetre is only {width} pixels wide there": (
                "{one} und {other} sehen gleich aus; bitte die Steine so stellen, wie [enrol] sagt, und so, dass sich "
                "keine Lampe in ihnen spiegelt; wenn sie richtig stehen, die Kamera näher heranrücken oder größere "
                "Bilder aufnehmen: ein Millimeter ist dort nur {width} Pixel breit"
            ),
            "one {piece}": "ein {piece}",
            "nothing": "nichts",
            "empty": "leer",
            "{height} high, {top} on top": "{height} hoch, {top} obenauf",
            "no picture yet": "noch kein Bild",
            "choose a camera": "bitte eine Kamera wählen",
            "choose one of {kinds}, and name it": "bitte eines von {kinds} wählen und nennen",
            "there is no camera {camera}": "eine Kamera {camera} gibt es nicht",
            "{camera}: sends no pictures; scan its code, and leave its page open": (
                "{camera}: sendet keine Bilder; bitte seinen Code scannen und seine Seite offen lassen"
            ),
            "the address names no camera; write it as rtsp://HOST/PATH or http://HOST/PATH": (
                "die Adresse nennt keine Kamera; bitte rtsp://HOST/PFAD oder http://HOST/PFAD schreiben"
            ),
            "camera {address}: its password cannot be looked up in .netrc ({error})": (
                "Kamera {address}: ihr Passwort lässt sich nicht in .netrc nachschlagen ({error})"
            ),
            "{camera}: cannot be opened; is it on, and are address, user and password right?": (
                "{camera}: lässt sich nicht öffnen; ist sie eingeschaltet, stimmen Adresse, Benutzer und Passwort?"
            ),
            "{camera}: gives no more pictures; is it still on, and in the network?": (
                "{camera}: gibt keine Bilder mehr; ist sie noch eingeschaltet und im Netz?"
            ),
            "{camera}: gives pictures of {width} x {height} px, the camera file is for {its_width} x {its_height} px; "
            "choose that size on the camera's own page": (
                "{camera}: gibt Bilder von {width} x {height} px, die Kameradatei ist für {its_width} x {its_height} "
                "px; bitte diese Größe auf der Seite der Kamera wählen"
            ),
            "no new picture for {time_s} s: {why}": "seit {time_s} s kein neues Bild: {why}",
            "check the camera's cable": "bitte das Kabel der Kamera prüfen",
            "{camera}: no new picture for {time_s} s": "{camera}: seit {time_s} s kein neues Bild",
            "{camera}: gives the same picture again and again": "{camera}: gibt immer wieder dasselbe Bild",
            "{camera}: is not open": "{camera}: ist nicht offen",
            "{camera}: gives no more pictures; is it still plugged in?": (
                "{camera}: gibt keine Bilder mehr; steckt ihr Kabel noch?"
            ),
            "{camera}: gives no more pictures ({error})": "{camera}: gibt keine Bilder mehr ({error})",
            "{camera}: cannot be opened; is it plugged in? (ls /dev/video*)": (
                "{camera}: lässt sich nicht öffnen; ist sie angeschlossen? (ls /dev/video*)"
            ),
            "{camera}: cannot be opened ({error}); is its ribbon cable seated?": (
                "{camera}: lässt sich nicht öffnen ({error}); sitzt ihr Flachkabel?"
            ),
            "{camera}: gives pictures of {width} x {height} px, the camera file is for {its_width} x {its_height} px; "
            "calibrate the lens at a size that it can give": (
                "{camera}: gibt Bilder von {width} x {height} px, die Kameradatei gilt für {its_width} x {its_height} "
                "px; bitte die Linse in einer Größe vermessen, die sie geben kann"
            ),
            "{camera}: picamera2 is not there ({error}); sudo apt install python3-picamera2, and make the venv with "
            "--system-site-packages": (
                "{camera}: picamera2 fehlt ({error}); sudo apt install python3-picamera2, und die venv mit "
                "--system-site-packages anlegen"
            ),
            "too dark: switch a lamp on": "zu dunkel: bitte eine Lampe einschalten",
            "too bright: lower the exposure, or turn the lamp away": (
                "zu hell: bitte kürzer belichten oder die Lampe wegdrehen"
            ),
            "the calibration board is not seen, or too little of it: hold it flat, sharp and lit": (
                "die Kalibriertafel ist nicht zu sehen, oder zu wenig davon: bitte flach, scharf und hell halten"
            ),
            "take at least {least} photographs first; {advised} are better": (
                "erst mindestens {least} Fotos aufnehmen; {advised} sind besser"
            ),
            "lens: only {seen} of {all} photographs show the calibration board; {least} are needed (board: {files} x "
            "{ranks} squares, {dictionary})": (
                "Linse: nur {seen} von {all} Fotos zeigen die Kalibriertafel; {least} sind nötig (Tafel: {files} x "
                "{ranks} Felder, {dictionary})"
            ),
            "lens: {why} ({error})": "Linse: {why} ({error})",
            "the photographs do not determine a camera; vary angle and place": (
                "aus den Fotos ergibt sich keine Kamera; bitte Winkel und Ort wechseln"
            ),
            "{photo}: is {width} x {height} px, the others {their_width} x {their_height} px": (
                "{photo}: hat {width} x {height} px, die anderen {their_width} x {their_height} px"
            ),
            "the board looks otherwise than the kit says on {cells}: learn its look again (--empty), or correct the "
            "kit": (
                "das Brett sieht anders aus, als das Kit sagt, auf {cells}: sein Aussehen neu lernen (--empty) oder "
                "das Kit berichtigen"
            ),
            "the board is seen too steeply or too small to tell the focal length: put the camera lower, and nearer": (
                "das Brett ist zu steil oder zu klein zu sehen, um die Brennweite zu verraten: bitte die Kamera tiefer "
                "und näher stellen"
            ),
            "photograph the empty board first, or measure the lens": (
                "erst das leere Brett fotografieren, oder die Linse vermessen"
            ),
            "point at the four corners of the playing field": "bitte auf die vier Ecken des Spielfelds zeigen",
            "the four corners do not fit the markers; point at them again": (
                "die vier Ecken passen nicht zu den Marken; bitte noch einmal auf sie zeigen"
            ),
            "the four points are no field: give its corners one after the other round it, that of a1 first": (
                "die vier Punkte sind kein Spielfeld: bitte seine Ecken reihum zeigen, zuerst die von a1"
            ),
            "too few markers are seen ({count}); stick four or more round the squares, all in the picture": (
                "zu wenige Marken sind zu sehen ({count}); bitte mindestens vier rund um die Felder kleben, alle im "
                "Bild"
            ),
            "the board shows {markers}, not of {dictionary}: say --dictionary, or use the stickers of companion mat": (
                "das Brett zeigt {markers}, nicht aus {dictionary}: bitte --dictionary angeben oder die Aufkleber von "
                "companion mat nehmen"
            ),
            "the four points are no field seen from above; give its corners again": (
                "die vier Punkte sind kein Spielfeld von oben; bitte seine Ecken noch einmal zeigen"
            ),
            "the lines on the board are about {apart} mm apart {way}, the borders of the kit's squares {pitch} mm: "
            "measure the playing field again by its four corners": (
                "die Linien auf dem Brett sind {way} etwa {apart} mm auseinander, die Feldgrenzen des Kits {pitch} mm: "
                "bitte das Spielfeld an seinen vier Ecken noch einmal vermessen"
            ),
            "the lines on the board lie about {aside} mm beside the borders of the kit's squares {way}: measure the "
            "playing field again by its four corners": (
                "die Linien auf dem Brett liegen {way} etwa {aside} mm neben den Feldgrenzen des Kits: bitte das "
                "Spielfeld an seinen vier Ecken noch einmal vermessen"
            ),
            "{count} markers do not tell the light all over the board: stick more round the squares, wholly on the "
            "board": (
                "{count} Marken verraten das Licht auf dem Brett nicht: bitte mehr davon rund um die Felder kleben, "
                "ganz auf dem Brett"
            ),
            "from file to file": "nach rechts",
            "from rank to rank": "nach hinten",
            "all squares are right, but the picture does not tell how large the pieces are: measure them and say it "
            "below": (
                "alle Felder stimmen, aber das Bild sagt nicht, wie groß die Steine sind: bitte messen und unten "
                "angeben"
            ),
            "give the pieces' sizes": "bitte die Größe der Steine angeben",
            "{pieces}: {width} mm wide does not suit the squares; give {least} to {most} mm": (
                "{pieces}: {width} mm breit passt nicht zu den Feldern; bitte {least} bis {most} mm angeben"
            ),
            "{pieces}: {height} mm high is no piece; give {least} to {most} mm": (
                "{pieces}: {height} mm hoch ist kein Stein; bitte {least} bis {most} mm angeben"
            ),
            "{pieces}: give width and height, such as 30,8.5": "{pieces}: bitte Breite und Höhe angeben, etwa 30,8.5",
            "pieces {letters}: the kit has {known}": "Steine {letters}: das Kit hat {known}",
            "pieces have several sizes: say of which pieces, {named}": (
                "die Steine haben mehrere Größen: bitte sagen, welche Steine, {named}"
            ),
            "pieces {letters}": "Steine {letters}",
            "pieces": "Steine",
            "a board has 1 to {files} files and 1 to {ranks} ranks": (
                "ein Brett hat 1 bis {files} Linien und 1 bis {ranks} Reihen"
            ),
            "let the program learn the pieces first": "erst das Programm die Steine lernen lassen",
            "the panel has no {cue}; it has {cues}": "die Anzeige hat kein {cue}; sie hat {cues}",
            "{file}: cannot be written ({error}); give another folder with -o": (
                "{file}: lässt sich nicht schreiben ({error}); bitte mit -o einen anderen Ordner nennen"
            ),
            "phone {number}": "Telefon {number}",
        }
    ),
    rules=MappingProxyType(
        {
            "G-1": "Ein anderer ist am Zug",
            "G-2": "Ein Zug bewegt nur, was an einer Stelle steht",
            "G-5": "Die Partie ist zu Ende",
        }
    ),
)
