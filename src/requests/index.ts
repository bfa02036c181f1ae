export { CallerRequest, callerOf, carryOutAsCaller, carryOutOnSystem, carryOutRequest } from './caller-request.ts';
export { withSystem } from './with-system.ts';
