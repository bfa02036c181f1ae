import type { Field } from '../../../schema/model.ts';
import type { Picture } from '../../port.ts';
import { SqlWriter } from '../../sql/writer.ts';
import type { Connection } from '../connection.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** By the list of fields, which belong to one table. */
const texts = new WeakMap<readonly Field[], string>();

/** The text of a picture as of now; `null` where the record is not there. Made here: functions of SQL take fewer values than a record has. */
export function takePicture(connection: Connection, picture: Picture): string | null {
  let text = texts.get(picture.fields);
  if (text === undefined) {
    text = textOf(picture);
    texts.set(picture.fields, text);
  }
  const row = connection.first({ text, params: [picture.objectId] });
  return row ? JSON.stringify(row) : null;
}

function textOf({ from, fields }: Picture): string {
  const out = new SqlWriter(sqliteDialect).add('SELECT ');
  fields.forEach(({ column }, at) => {
    out.add(at > 0 ? ', ' : '').column('t', column);
  });
  return out.add(' FROM ').table(from.sqlName).add(' AS t WHERE ').column('t', 'objectId').add(' = ').bind(null).text;
}
