export { importRecords, type RejectedLine } from './import.ts';
export { readLines } from './lines.ts';
