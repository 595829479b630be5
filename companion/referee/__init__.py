"""From the meaning of the table, and what people say, to the referee's events.

Usage, by whoever owns camera, clock and threads (one thread calls everything)::

    referee = Referee(Match(game, game.start()))
    events = referee.begin(t_s=0.0)                      # start
    for frame in source:
        moving = gate.step(frame)                        # did anything move since the frame before?
        glance = referee.glance(frame.t_s, moving=moving)
        publish(glance.events)                           # a hand that stays long
        if glance.read:                                  # this frame is worth a reading
            publish(referee.observe(frame.t_s, read(frame)))
            if referee.wants_whole:                      # only of a referee who is told that this was a part
                publish(referee.observe(frame.t_s, read_whole(frame)))
            if referee.question is not None:             # only of a referee who is told that there is a second look
                publish(referee.verified(frame.t_s, compare(referee.question)))
    referee.view(t_s, "no-mat")                          # what vision says about the whole picture
    referee.order(t_s, Answer(0), by="R")                # buttons, web page, arbiter

Commit what ``observe()`` returns before showing it.  ``prepare()`` may be called when idle.  ``grounds()`` returns the
reasons for the last verdict.

A match that goes on after a restart is built with its plies and the number of its next event, and without ``begin``.
"""
