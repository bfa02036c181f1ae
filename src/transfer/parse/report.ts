import type { MigrationPlan } from './plan/plan.ts';
import type { Findings, Problems } from './write/findings.ts';
import type { MergedRole } from './write/survey.ts';

/** Result of a migration or dry run. */
export interface MigrationReport {
  /** Number of objects by class, including those that existed before. */
  readonly classes: Readonly<Record<string, number>>;
  /** Summary in one line: classes and differences. */
  readonly line: string;
  /** The parts of the summary. */
  readonly parts: readonly string[];
  /** Details of problems: the first occurrence of each kind. */
  readonly details: readonly string[];
  /** Whether objects, values, passwords or files were lost. */
  readonly hasLosses: boolean;
}

/** Input of a report. */
export interface ReportParts {
  readonly plan: MigrationPlan;
  readonly findings: Findings;
  /** Numbers of objects by class that is not imported. */
  readonly notImported: ReadonlyMap<string, number>;
  readonly merged: readonly MergedRole[];
  /** New members of the role that administers the system. */
  readonly newAdministrators: number;
  /** Differences of permissions. */
  readonly permissions: readonly string[];
  readonly indexesLeftOut: readonly string[];
  readonly notes: readonly string[];
  readonly copiesFiles: boolean;
}

const grouped = (count: number) => count.toLocaleString('en-US');
const counted = (count: number, what: string, plural = `${what}s`) => `${grouped(count)} ${count === 1 ? what : plural}`;

export function reportOf(parts: ReportParts): MigrationReport {
  const { plan, findings } = parts;
  const names = plan.classes.map(({ className }) => className).sort(byKind);
  const lines = [
    ...names.map((name) => classText(name, findings)),
    ...(findings.members > 0 ? [`relations ${counted(findings.members, 'member')}`] : []),
    ...filesText(parts),
    ...Array.from(parts.notImported, ([name, count]) => `${name} not taken (${grouped(count)})`),
    ...objectsText(plan),
    ...(findings.authData > 0 ? [`authData of ${counted(findings.authData, 'user')} not taken`] : []),
    ...sumText(findings.withoutPassword, (count) => `${counted(count, 'user')} without a password: they have to reset it`),
    ...(findings.sharedNames > 0
      ? [`${counted(findings.sharedNames, 'user')} with the name or address of another: they cannot sign in by it`]
      : []),
    ...sumText(findings.values, (count) => `${counted(count, 'value')} not taken`),
    ...sumText(findings.refused, (count) => `${counted(count, 'object')} not taken`),
    ...(findings.closed > 0 ? [`empty ACL of ${counted(findings.closed, 'object')} written as {"*":{}}`] : []),
    ...rolesText(parts),
    ...(parts.permissions.length > 0 ? [`permissions closed: ${parts.permissions.join('; ')}`] : []),
    ...listText(
      'not taken',
      plan.classes.flatMap(({ leftOut }) => leftOut),
    ),
    ...listText('not taken', [...plan.classes.flatMap(({ indexes }) => indexes.leftOut), ...parts.indexesLeftOut]),
    ...parts.notes,
  ];
  return {
    classes: Object.fromEntries(names.map((name) => [name, findings.records.get(name) ?? 0])),
    line: lines.join(' · '),
    parts: lines,
    details: [
      ...details(findings.values, 'value'),
      ...details(findings.refused, 'object'),
      ...details(findings.withoutPassword, 'password'),
      ...details(findings.files.missing, 'file'),
    ],
    hasLosses: findings.hasLosses,
  };
}

/** Sorts application classes first. */
function byKind(a: string, b: string): number {
  const isOwn = (name: string) => Number(name.startsWith('_'));
  if (isOwn(a) !== isOwn(b)) return isOwn(a) - isOwn(b);
  // Users before roles.
  return isOwn(a) ? (a < b ? 1 : -1) : a < b ? -1 : 1;
}

function classText(name: string, findings: Findings): string {
  const count = findings.records.get(name) ?? 0;
  const present = findings.present.get(name) ?? 0;
  const notes = [
    ...(name === '_User' && findings.passwords > 0
      ? [findings.passwords === count ? 'passwords kept' : `${grouped(findings.passwords)} passwords kept`]
      : []),
    ...(present > 0 ? [`${grouped(present)} were here`] : []),
  ];
  return `${name} ${grouped(count)}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
}

function filesText({ findings: { files }, copiesFiles }: ReportParts): string[] {
  if (files.named === 0) return [];
  if (!copiesFiles) return [`files ${grouped(files.named)}: names kept, bytes not taken (--files-from takes them)`];
  return [
    `files ${grouped(files.copied)}`,
    ...(files.renamed > 0 ? [`${counted(files.renamed, 'file')} with a new beginning of the name`] : []),
    ...sumText(files.missing, (count) => `${counted(count, 'file')} not taken`),
  ];
}

function objectsText({ classes }: MigrationPlan): string[] {
  const byType = new Map<string, string[]>();
  for (const { className, asObjects } of classes)
    for (const [name, type] of asObjects) byType.set(type, [...(byType.get(type) ?? []), `${className}.${name}`]);
  return Array.from(byType, ([type, fields]) => `${type} fields kept as Object: ${fields.sort().join(', ')}`);
}

function rolesText({ merged, newAdministrators }: ReportParts): string[] {
  if (merged.length === 0) return [];
  const names = merged.map(({ name }) => name).sort();
  const text = `roles in the place of those of the same name here: ${names.join(', ')}`;
  if (!names.includes('Admin')) return [text];
  return [
    text,
    `Admin administers this system: ${counted(newAdministrators, 'member')} of the source, and members of roles in it, do so now`,
  ];
}

function sumText(problems: Problems, text: (count: number) => string): string[] {
  let count = 0;
  for (const [, finding] of problems.entries()) count += finding.count;
  return count > 0 ? [text(count)] : [];
}

const listText = (what: string, list: readonly string[]): string[] => (list.length > 0 ? [`${what}: ${list.join(', ')}`] : []);

function details(problems: Problems, what: string): string[] {
  return Array.from(
    problems.entries(),
    ([kind, { count, first, reason }]) => `${counted(count, what)} not taken: ${kind}, first ${first}: ${reason}`,
  );
}
