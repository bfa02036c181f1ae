import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { inRowOrder, isFlag, normalBody, type RowKind, rowKinds } from '../model/rows.ts';
import type { NamedRow } from '../model/snapshot.ts';
import { entriesAt, knownObjectAt, optionalTextAt, type Place, refuse, textAt, textsAt } from './assertions.ts';
import { MAX_ROWS } from './limits.ts';

/** Parses roles: `{<name>: {roles?, ACL?}}`. @throws SnapshotFault */
export function readRoles(value: JsonValue, place: Place): NamedRow[] {
  return inRowOrder(
    entriesAt(value, place, MAX_ROWS).map(([name, body]) => {
      const at = [...place, name];
      const role = knownObjectAt(body, at, rowKinds.roles.fields);
      const roles = [...new Set(textsAt(role, 'roles', at, MAX_ROWS))].sort();
      const others = { ...role, roles: roles.length > 0 ? roles : null };
      return { table: '', name, body: normalBody(rowKinds.roles, checkedAcl(others, at)) };
    }),
  );
}

/** Parses flags: `{<name>: <Value>}`. @throws SnapshotFault */
export function readConfig(value: JsonValue, place: Place): NamedRow[] {
  return inRowOrder(
    entriesAt(value, place, MAX_ROWS).map(([name, flag]) => {
      if (!isFlag(name, flag)) refuse([...place, name], 'is no flag');
      return { table: '', name, body: normalBody(rowKinds.config, { Value: flag }) };
    }),
  );
}

/** Parses triggers or reports: a list of records with `Name` and `table`. What of their content is wrong is found later. @throws SnapshotFault */
export function readNamedRows(kind: RowKind, value: JsonValue, place: Place): NamedRow[] {
  if (!Array.isArray(value)) return refuse(place, 'are not a list');
  if (value.length > MAX_ROWS) refuse(place, `have more than ${MAX_ROWS.toLocaleString('en')} items`);
  const rows = value.map((one, index): NamedRow => {
    const at = [...place, String(index)];
    const row = checkedAcl(knownObjectAt(one, at, [kind.name, 'table', ...kind.fields]), at);
    return { table: textAt(row, 'table', at), name: optionalTextAt(row, kind.name, at) ?? '', body: normalBody(kind, row) };
  });
  return inRowOrder(rows);
}

function checkedAcl(row: JsonObject, place: Place): JsonObject {
  const acl = own(row, 'ACL') ?? null;
  if (acl !== null && !isJsonObject(acl)) refuse([...place, 'ACL'], 'is not an object');
  return row;
}
