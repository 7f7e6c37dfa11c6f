// How the log of access is read.

import type { Schemas } from "../api/client";

/** What was done; what it was done to follows. */
export const ACTIONS: Record<Schemas["AccessAction"], string> = {
  login: "logged in",
  login_failed: "failed to log in as",
  logout: "logged out",
  session_ended: "ended a session of",
  user_added: "added the user",
  user_removed: "removed the user",
  password_changed: "changed the password of",
  role_changed: "changed the role of",
  token_added: "made the token",
  token_revoked: "revoked the token",
  issue_muted: "muted the issue",
  note_edited: "edited a note on",
  note_deleted: "deleted a note on",
  view_shared: "shared the view",
  view_deleted: "deleted the shared view",
  settings_changed: "set reading to",
};
