export { ADMIN_KEY } from './accounts/administrators.ts';
export { administratorsOf } from './accounts/list-administrators.ts';
export { LOCK_MINUTES } from './accounts/lockout.ts';
export { presentUser, userCaller } from './accounts/present.ts';
export { agentFor, agentPermissionsOf, agentSwitches } from './agents.ts';
export { changePassword } from './change-password.ts';
export {
  consoleSession,
  fileTokenOf,
  fileTokenUser,
  logInToConsole,
  logOutOfConsole,
  MAX_CONSOLE_SESSION_MS,
} from './console-session.ts';
export { authenticate, markOf } from './login.ts';
export { isUsableHash, meetsPolicy } from './passwords/password.ts';
export { resetPassword } from './passwords/reset-password.ts';
export { PasswordResets, resetPath } from './passwords/reset-requests.ts';
export { isConsoleToken } from './sessions/token.ts';
export { cachedPrincipal, principalOfSession, type SignedIn, Users, userTableRules } from './users.ts';
