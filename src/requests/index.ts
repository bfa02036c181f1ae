export {
  CallerRequest,
  type CallerScope,
  type CallerSteps,
  callerOf,
  executeAsCaller,
  executeOnSystem,
  executeRequest,
} from './caller-request.ts';
export { withSystem } from './with-system.ts';
