import type { Field } from '../../../schema/model.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Snapshot } from '../../port.ts';
import { boundedSnapshot, MAX_SNAPSHOT_VALUE_CHARS, snapshotLimits } from '../../snapshot-limits.ts';
import { SqlWriter } from '../../sql/sql-writer.ts';
import type { Connection } from '../connection/connection.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** By the list of fields, which belong to one table. */
const texts = new WeakMap<readonly Field[], string>();

/**
 * Returns the text of a snapshot, within its limits (snapshot-limits.ts); `null` if the record does not exist. Built in JavaScript, since SQL
 * functions accept fewer arguments than a record may have values.
 */
export function takeSnapshot(connection: Connection, snapshot: Snapshot): string | null {
  let text = texts.get(snapshot.fields);
  if (text === undefined) {
    text = textOf(snapshot);
    texts.set(snapshot.fields, text);
  }
  const row = connection.first({ text, params: [snapshot.objectId] });
  return row ? JSON.stringify(boundedSnapshot(snapshotLimits(snapshot.fields), row as readonly StoredValue[])) : null;
}

/** Avoids reading values that are too long: `octet_length` does not read them. */
function textOf({ from, fields }: Snapshot): string {
  const out = new SqlWriter(sqliteDialect).add('SELECT ');
  const { kinds } = snapshotLimits(fields);
  fields.forEach(({ column }, at) => {
    const kind = kinds[at] ?? null;
    if (at > 0) out.add(', ');
    if (kind === null || kind === 'kept') {
      out.column('t', column);
      return;
    }
    out.add('CASE WHEN octet_length(').column('t', column).add(`) <= ${MAX_SNAPSHOT_VALUE_CHARS} THEN `).column('t', column);
    if (kind === 'text') out.add(' ELSE substr(').column('t', column).add(`, 1, ${MAX_SNAPSHOT_VALUE_CHARS}) END`);
    else
      out.add(' WHEN length(').column('t', column).add(`) <= ${MAX_SNAPSHOT_VALUE_CHARS} THEN `).column('t', column).add(' END');
  });
  return out.add(' FROM ').table(from.sqlName).add(' AS t WHERE ').column('t', 'objectId').add(' = ').bind(null).text;
}
