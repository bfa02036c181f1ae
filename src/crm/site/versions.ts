import { ServiceError, serviceError } from '../../errors/fail.ts';
import { newSiteId } from '../../kernel/ids.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { checkTogether, type OnlyIf } from '../../records/index.ts';
import { type FieldType, fieldOf, type TableSchema } from '../../schema/model.ts';
import { parseIsoDate } from '../../values/index.ts';
import { updateRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { getRow, type Row, tableIfAny, tableNamed } from '../queries/records.ts';
import { advise, badArguments } from '../refusals.ts';

export const PAGES = 'SitePages';
export const MENUS = 'SiteMenus';

/**
 * A table of the site layer, whose fields a system may have made otherwise.
 * @param types what the tool needs of it; a field that is missing is none that is wrong
 * @throws classMissing (103), invalidArguments (107) where a field is of another type
 */
export function siteTable(
  context: CrmContext,
  className: string,
  types: Readonly<Record<string, readonly FieldType[]>>,
): TableSchema {
  const table = tableNamed(context, className);
  for (const [name, allowed] of Object.entries(types)) {
    const field = table.fields.get(name);
    if (field && !allowed.includes(field.type))
      badArguments(`${className}.${name} is of type ${field.type} in this system; the tool takes ${allowed.join(' or ')}`, {
        next: 'Get-Schema',
      });
  }
  return table;
}

/** A page or menu as it was read. */
export interface Versioned {
  readonly className: string;
  readonly row: Row;
  /** As agents name it; `0` where there is none yet. */
  readonly version: string;
}

/** What to read. */
export interface VersionedQuery {
  readonly className: string;
  readonly objectId: string;
  readonly keys: readonly string[];
  /** The types that the tool takes. */
  readonly types: Readonly<Record<string, readonly FieldType[]>>;
}

/**
 * Reads a page or menu with its version.
 * @throws classMissing (103), objectNotFound (101), invalidArguments (107) where the system has made the table otherwise
 */
export async function readVersioned(
  context: CrmContext,
  { className, objectId, keys, types }: VersionedQuery,
): Promise<Versioned> {
  siteTable(context, className, { ...types, Version: ['String', 'Number'] });
  try {
    const row = await getRow(context, className, objectId, { keys: [...keys, 'Version', 'updatedAt'] });
    return { className, row, version: String(row.Version ?? 0) };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'objectNotFound') throw error;
    throw advise(error, { expected: `${className} has no such record, or you may not see it`, next: 'Get-Site-Pages' });
  }
}

/** @throws changedMeanwhile (409) with the present version, where the caller has read another one */
export function requireVersion({ version, className }: Versioned, sent: string): void {
  if (version !== sent) throw stale(className, version);
}

const stale = (className: string, version: string) =>
  advise(serviceError('changedMeanwhile'), {
    expected: `The present version is ${JSON.stringify(version)}; read it again and send the change with its version`,
    next: className === 'SitePages' ? 'Get-Site-Page' : 'Get-Site-Pages with menus',
  });

/**
 * Writes a page or menu that was read, under its next version, as long as nobody has written it since.
 * @param dryRun all is checked that can be, nothing is written
 * @returns the next version
 * @throws changedMeanwhile (409), what `updateRecord` throws
 */
export async function writeVersioned(context: CrmContext, read: Versioned, data: JsonObject, dryRun: boolean): Promise<string> {
  const { className, row, version } = read;
  const next = nextVersion(version);
  const isNumber = tableIfAny(context, className)?.fields.get('Version')?.type === 'Number';
  const body = { ...data, Version: isNumber ? Number(next) : next };
  if (dryRun) {
    await checkTogether(context, [{ kind: 'update', className, objectId: row.objectId, body }]);
    return next;
  }
  try {
    await updateRow(context, className, row.objectId, body, { onlyIf: unchanged(row) });
    return next;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.key !== 'changedMeanwhile') throw error;
    const now = await getRow(context, className, row.objectId, { keys: ['Version'] });
    throw stale(className, String(now.Version ?? 0));
  }
}

/** Versions count; one that is no whole number was made by somebody else, and is followed by a new name. */
const nextVersion = (version: string): string => (/^\d{1,15}$/.test(version) ? String(Number(version) + 1) : newSiteId());

/** Both: others may write without a new version, or twice in a millisecond. */
function unchanged({ Version = null, updatedAt }: Row): OnlyIf {
  return (table) => {
    const field = fieldOf(table, 'Version');
    const isSame =
      Version === null
        ? ({ kind: 'not', item: { kind: 'exists', ref: { field, path: [] } } } as const)
        : ({ kind: 'compare', field, op: 'eq', value: stored(Version) } as const);
    const value = parseIsoDate(String(updatedAt));
    return { kind: 'and', items: [isSame, { kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value }] };
  };
}

const stored = (version: JsonValue): string | number => (typeof version === 'number' ? version : String(version));
