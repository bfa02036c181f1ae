export { triggerTable } from './definitions.ts';
export { runDue } from './due.ts';
export { expand } from './expand.ts';
