export { type ImportEvents, type ImportResult, importRecords, type RejectedLine } from './import.ts';
export { readLines } from './lines.ts';
