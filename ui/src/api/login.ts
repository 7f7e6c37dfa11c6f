// What the service answers 401 to is for who logs in.

/** The page for logging in, which leads back to an address of this service afterwards. */
export function loginAddress(path: string, search: string): string {
  const from = path + search;
  return from === "/" ? "/login" : `/login?${new URLSearchParams({ next: from }).toString()}`;
}

/** Goes there from the page that is shown. */
export function toLogin(): void {
  location.assign(loginAddress(location.pathname, location.search));
}
