import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue } from '../../../kernel/json.ts';
import type { RecordContext } from '../../../records/index.ts';
import { rowKinds } from '../model/rows.ts';
import {
  type NamedRow,
  type RowPart,
  rowParts,
  type Scope,
  type Snapshot,
  SnapshotFault,
  type TablePart,
} from '../model/snapshot.ts';
import { snapshotJson } from '../model/snapshot-json.ts';
import type { StoredLabels } from '../state/labels.ts';
import type { Reference, References } from '../state/references.ts';
import { defaultsOf, portableRows, portableTables, readState, type SystemState } from '../state/system-state.ts';
import type { Delta, RowDelta } from './delta.ts';
import { rowName } from './describe.ts';
import { type Renames, renamedState, renamesIn } from './renames.ts';
import { diffLabels, diffRows } from './rows.ts';
import { checkOnly, partsIn, scoped } from './scope.ts';
import { diffTables } from './tables.ts';

/** A system compared with a snapshot. */
export interface Comparison {
  /** As it is now. */
  readonly state: SystemState;
  /** Fields that are renamed. The other differences are those that remain then. */
  readonly renames: Renames;
  readonly delta: Delta;
  /** Of what the system has in the scope; another one: it has changed. */
  readonly hash: string;
  /** References of the snapshot to records that the system lacks: an apply is refused. */
  readonly unresolved: readonly string[];
}

/**
 * Compares a system with a snapshot. Reads no records but those that make up the schema.
 * @throws SnapshotFault if the snapshot contradicts itself or the scope names what is not there
 */
export async function compare(context: RecordContext, snapshot: Snapshot, scope: Scope): Promise<Comparison> {
  const { store } = context;
  const parts = partsIn(snapshot, scope);
  if (scope.only) checkOnly(snapshot, store.schema(), scope.only);
  const asked = scoped(snapshot, parts, scope.only);
  const state = await readState(store, parts, valuesOf(asked));
  const { references } = state;
  const wanted = portable(asked, references);
  const found = scoped(state.snapshot, parts, scope.only);
  const notes: string[] = [];
  const note = (text: string) => {
    notes.push(text);
  };
  const renames = renamesIn(found, wanted, note);
  const renamed = renamedState(context, state, renames);
  const after = scoped(renamed.snapshot, parts, scope.only);
  const { tables, gone } = diffTables(after, wanted, renames, note);
  refuseTriggersOf(gone, wanted);
  const rows = rowParts.flatMap((part) => rowDeltas(part, renamed, after, wanted));
  const labels = wanted.labels
    ? diffLabels(labelsIn(renamed.labels, scope), wanted.labels, wanted.isComplete && !wanted.labelsOfFieldsOnly)
    : [];
  const unresolved = missingIn(rows, wanted.tables, references, true);
  notes.push(...missingIn(rows, undefined, references, false));
  return { state, renames, delta: { tables, gone, rows, labels, notes }, hash: hashOf(found), unresolved };
}

/** @throws SnapshotFault for a trigger whose table goes: it would be off, and so not what the snapshot says */
function refuseTriggersOf(gone: readonly string[], { triggers = [] }: Snapshot): void {
  const left = triggers.find(({ table }) => gone.includes(table));
  if (left) throw new SnapshotFault(['triggers'], `have one of ${left.table}, a table that goes: ${left.name}`);
}

/** Returns the hash of what a system has. */
export const hashOf = (found: Snapshot): string =>
  createHash('sha256')
    .update(canonicalJson(snapshotJson(found)))
    .digest('base64url');

function portable(snapshot: Snapshot, references: References): Snapshot {
  const rows = rowParts.flatMap((part): [RowPart, readonly NamedRow[]][] => {
    const given = snapshot[part];
    return given ? [[part, portableRows(part, given, references)]] : [];
  });
  const { tables } = snapshot;
  return { ...snapshot, ...(tables && { tables: portableTables(tables, references) }), ...Object.fromEntries(rows) };
}

const valuesOf = (snapshot: Snapshot): JsonValue[] => [
  ...rowParts.flatMap((part) => (snapshot[part] ?? []).map(({ body }) => body)),
  ...defaultsOf(snapshot.tables),
];

function rowDeltas(part: RowPart, { rows }: SystemState, found: Snapshot, wanted: Snapshot): RowDelta[] {
  const [there, described] = [found[part], wanted[part]];
  if (!there || !described) return [];
  // The same rows as in `found`, with their ids.
  const inScope = new Set<NamedRow>(there);
  const stored = (rows.get(part) ?? []).filter((row) => inScope.has(row));
  return diffRows(rowKinds[part], stored, described, wanted.isComplete);
}

const labelsIn = (labels: StoredLabels, { only }: Scope): StoredLabels =>
  only ? new Map([...labels].filter(([table]) => only.includes(table))) : labels;

/** Returns in words which references of new or changed records lead nowhere. */
function missingIn(
  rows: readonly RowDelta[],
  tables: ReadonlyMap<string, TablePart> | undefined,
  references: References,
  byName: boolean,
): string[] {
  const said = (what: string, value: JsonValue) =>
    references.missing(value, byName).map((reference) => `${what} points at ${referenceText(reference)}`);
  const ofRows = rows.flatMap((row) => (row.op === 'remove' ? [] : said(rowName(row.kind.what, row.wanted), row.wanted.body)));
  const ofFields = [...(tables ?? [])].flatMap(([className, { fields }]) =>
    [...fields].flatMap(([name, { defaultValue }]) =>
      defaultValue === undefined ? [] : said(`${className}.${name}`, defaultValue),
    ),
  );
  return [...ofRows, ...ofFields];
}

const referenceText = ({ className, objectId, name }: Reference): string =>
  name === undefined
    ? `${className} ${objectId}, which is not there`
    : `${className} ${JSON.stringify(name)}, which is not there once`;
