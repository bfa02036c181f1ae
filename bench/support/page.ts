/** Tables of a workload as a marked section of a document: `<!-- bench crud: begin -->` … `<!-- bench crud: end -->`. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import type { PrintedTable } from './report.ts';

/** Circumstances of a run, for the line above its tables. */
export interface Run {
  /** As the user typed it. */
  readonly command: string;
  /** Load average of the last minute when the workload began: above a tenth of a processor, others were at work. */
  readonly load: number;
}

/** @param args arguments of the bench program, without the page. */
export function runNow(args: readonly string[]): Run {
  return { command: ['npm run bench --', ...args].join(' '), load: loadavg()[0] ?? 0 };
}

/**
 * Replaces the section of a workload.
 *
 * @throws Error if the document has no such section.
 */
export function writeSection(path: string, workload: string, run: Run, tables: readonly PrintedTable[]): void {
  writeFileSync(path, withSection(readFileSync(path, 'utf8'), workload, [madeBy(run), ...tables.map(markdownOf)]));
}

/** A document with other paragraphs in the section of a workload. */
export function withSection(page: string, workload: string, paragraphs: readonly string[]): string {
  const [begin, end] = [`<!-- bench ${workload}: begin -->`, `<!-- bench ${workload}: end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the page has no section between ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${paragraphs.join('\n\n')}\n\n${page.slice(to)}`;
}

/** The heading in italics, then the rows. Columns after the first are aligned right, as on the terminal. */
export function markdownOf({ heading, columns, rows }: PrintedTable): string {
  const line = (cells: readonly string[]) => `| ${columns.map((_, index) => cell(cells[index] ?? '')).join(' | ')} |`;
  const rule = `|${columns.map((_, index) => (index === 0 ? '---' : '--:')).join('|')}|`;
  return [`*${heading}*`, '', line(columns), rule, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function madeBy({ command, load }: Run): string {
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'processor'}`;
  return `Made by \`${command}\` on ${day}, ${commit()}, Node ${process.versions.node}, ${machine}, load average at its start ${load.toFixed(1)}.`;
}

function commit(): string {
  try {
    return `commit ${execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()}`;
  } catch {
    return 'no commit';
  }
}
