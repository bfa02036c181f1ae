export {
  CallerRequest,
  type CallerScope,
  type CallerSteps,
  callerOf,
  carryOutAsCaller,
  carryOutOnSystem,
  carryOutRequest,
} from './caller-request.ts';
export { withSystem } from './with-system.ts';
