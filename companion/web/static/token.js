// The token of who may act, kept for this visit to the page.

// From the address that the program printed; it must not stay in the address bar, where others read it.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    history.replaceState(null, "", location.pathname + location.search);
    keepToken(given);
    return given;
  }
  try { return sessionStorage.getItem("token") ?? ""; } catch { return ""; }
}

export function keepToken(token) {
  try { sessionStorage.setItem("token", token); } catch { /* private mode: until the page is loaded again */ }
}
