export { ADMIN_KEY } from './administrators.ts';
export { agentFor, agentPermissionsOf, agentSwitches } from './agents.ts';
export { LOCK_MINUTES } from './lock.ts';
export { authenticate, markOf } from './login.ts';
export { meetsPolicy } from './passwords/policy.ts';
export { presentUser, userCaller } from './present.ts';
export { resetPassword } from './reset/password.ts';
export { PasswordResets, resetPath } from './reset/requests.ts';
export { principalOfSession, type SignedIn, Users, userTableRules } from './users.ts';
