import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import { copyFields, secretFieldsOf } from '../../schema/system-tables.ts';
import type { OwnValues } from '../../storage/column-values.ts';
import type { RecordContext } from '../context.ts';

/** What a write keeps of where its values come from. */
export const sourcesFor = ({ className, fields }: TableSchema, { sources }: RecordContext): OwnValues =>
  sources !== undefined && secretFieldsOf(className).has(copyFields.sources) && fields.has(copyFields.sources)
    ? { [copyFields.sources]: sources }
    : {};

/** What an update by hand takes away: of a text that somebody else wrote nothing tells whose values it has. */
export const disownedBy = ({ className, fields }: TableSchema, sent: JsonObject): OwnValues =>
  Object.hasOwn(sent, 'data') && secretFieldsOf(className).has(copyFields.className) && fields.has(copyFields.className)
    ? { [copyFields.className]: null }
    : {};
