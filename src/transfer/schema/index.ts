export { applySchema, diffSchema, type SchemaDiff } from './apply/apply.ts';
export { changeJson } from './diff/describe.ts';
export { exportSchema } from './export.ts';
export { readDirectory, writeDirectory } from './files/directory.ts';
export { faultOfDirectory } from './files/fault.ts';
export type { Change } from './model/change.ts';
export { type Part, parts, type Scope, type Snapshot, SnapshotFault } from './model/snapshot.ts';
export { snapshotJson } from './model/snapshot-json.ts';
export { readSnapshot } from './read/read-snapshot.ts';
