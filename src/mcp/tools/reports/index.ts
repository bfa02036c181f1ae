import type { Tool } from '../../definition/tool.ts';
import { getReports } from './get-reports.ts';
import { runReport } from './run-report.ts';
import { saveReport } from './save-report.ts';

export const reportsTools: readonly Tool[] = [getReports, runReport, saveReport];
