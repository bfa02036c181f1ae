export { type Company, importRecords, type RejectedLine } from './import.ts';
export { readLines } from './lines.ts';
export { refuseMoved } from './move/mark.ts';
export { type MoveEvents, type MoveResult, moveAll } from './move/move.ts';
