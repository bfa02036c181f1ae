export { refuseNewColumns } from './import/columns.ts';
export { type Company, importRecords, type RejectedLine, refuseImport } from './import/import.ts';
export { readRows } from './import/source.ts';
export { refuseMoved } from './move/mark.ts';
export { type MoveEvents, type MoveResult, moveAll } from './move/move.ts';
