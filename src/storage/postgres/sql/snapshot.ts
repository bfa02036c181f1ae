import type { Field } from '../../../schema/model.ts';
import { MAX_SNAPSHOT_CHARS, MAX_SNAPSHOT_VALUE_CHARS, snapshotLimits } from '../../snapshot-limits.ts';
import type { SqlOut } from '../../sql/dialect.ts';

/** Maximum total characters of the array, whose limit is 1 GB. Divided evenly, it bounds each value of a snapshot, whatever the others are. */
const MAX_ARRAY_LENGTH = 200_000_000;

/** Writes the text of a snapshot of a record (`Snapshot`), from its columns, within the limits of snapshot-limits.ts. */
export function writeSnapshot(out: SqlOut, alias: string, fields: readonly Field[]): void {
  const { share, kinds } = snapshotLimits(fields);
  if (share === null) {
    out.add('to_json(');
    writeValues(out, alias, fields);
    out.add(')::text');
    return;
  }
  // The size of an array is known without serialising it; OFFSET prevents building the array twice.
  out.add(`(SELECT CASE WHEN pg_column_size(p.a) <= ${MAX_SNAPSHOT_CHARS} THEN to_json(p.a)::text ELSE to_json(ARRAY(`);
  const kept = kinds.flatMap((kind, at) => (kind === 'kept' ? [at + 1] : []));
  const cut = kept.length === 0 ? `left(u.v, ${share})` : `CASE WHEN u.n IN (${kept}) THEN u.v ELSE left(u.v, ${share}) END`;
  out.add(`SELECT ${cut} FROM unnest(p.a) WITH ORDINALITY AS u(v, n) ORDER BY u.n))::text END FROM (SELECT `);
  writeValues(out, alias, fields);
  out.add(' AS a OFFSET 0) AS p)');
}

function writeValues(out: SqlOut, alias: string, fields: readonly Field[]): void {
  const { kinds } = snapshotLimits(fields);
  const maxLength = Math.min(MAX_SNAPSHOT_VALUE_CHARS, Math.floor(MAX_ARRAY_LENGTH / Math.max(1, fields.length)));
  out.add('ARRAY[');
  fields.forEach(({ column }, at) => {
    if (at > 0) out.add(', ');
    const kind = kinds[at] ?? null;
    if (kind === null || kind === 'kept') out.column(alias, column).add('::text');
    else if (kind === 'text') out.add('left(').column(alias, column).add(`, ${maxLength})`);
    else {
      out.add('CASE WHEN length(').column(alias, column).add(`::text) <= ${maxLength} THEN `);
      out.column(alias, column).add('::text END');
    }
  });
  out.add(']::text[]');
}
