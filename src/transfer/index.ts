export * from './backup/index.ts';
export { exportRecords } from './export/export.ts';
export { type ExportFormat, ExportParameters, exportFormats } from './export/parameters.ts';
export { refuseNewColumns } from './import/columns.ts';
export { type Company, importRecords, type RejectedLine, refuseImport } from './import/import.ts';
export { readRows } from './import/source.ts';
export { type MoveEvents, type MoveResult, moveAll, refuseMoved } from './migrate/migrate.ts';
export { type MigrationEvents, migrateParse } from './parse/migrate.ts';
