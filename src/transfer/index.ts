export { type ImportResult, importRecords, type RejectedLine } from './import.ts';
