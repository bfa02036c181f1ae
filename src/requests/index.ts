export { CallerRequest, carryOutAsCaller, carryOutRequest } from './caller-request.ts';
export { withSystem } from './with-system.ts';
