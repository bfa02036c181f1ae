export { runDue } from './due.ts';
export { expand } from './expand.ts';
