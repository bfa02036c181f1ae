import { ServiceError, serviceError } from '../../errors/fail.ts';
import { newSiteId } from '../../kernel/ids.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { checkWrites, type OnlyIf } from '../../records/index.ts';
import { type FieldType, fieldOf, type TableSchema } from '../../schema/model.ts';
import { parseIsoDate } from '../../values/index.ts';
import { updateRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { getRow, type Row, tableIfAny, tableNamed } from '../queries/records.ts';
import { advise, badArguments } from '../refusals.ts';

export const PAGES = 'SitePages';
export const MENUS = 'SiteMenus';

/**
 * Returns a table of the site, whose fields a system may have changed.
 * @param types types that the tool supports by field; a missing field is accepted
 * @throws classMissing (103), invalidArguments (107) if a field is of another type
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

/** A page or menu as read. */
export interface Versioned {
  readonly className: string;
  readonly row: Row;
  /** As shown to agents; `0` if there is none yet. */
  readonly version: string;
}

/** What to read. */
export interface VersionedQuery {
  readonly className: string;
  readonly objectId: string;
  readonly keys: readonly string[];
  /** Types that the tool supports by field. */
  readonly types: Readonly<Record<string, readonly FieldType[]>>;
}

/**
 * Reads a page or menu with its version.
 * @throws classMissing (103), objectNotFound (101), invalidArguments (107) if the system has changed the table incompatibly
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

/** Checks the version that the caller has read. @throws changedMeanwhile (409) with the current version if it differs */
export function requireVersion({ version, className }: Versioned, sent: string): void {
  if (version !== sent) throw stale(className, version);
}

const stale = (className: string, version: string) =>
  advise(serviceError('changedMeanwhile'), {
    expected: `The present version is ${JSON.stringify(version)}; read it again and send the change with its version`,
    next: className === 'SitePages' ? 'Get-Site-Page' : 'Get-Site-Pages with menus',
  });

/**
 * Writes a page or menu under its next version, provided that it has not changed since it was read.
 * @param dryRun validates without writing
 * @returns the next version
 * @throws changedMeanwhile (409), what `updateRecord` throws
 */
export async function writeVersioned(context: CrmContext, read: Versioned, data: JsonObject, dryRun: boolean): Promise<string> {
  const { className, row, version } = read;
  const next = nextVersion(version);
  const isNumber = tableIfAny(context, className)?.fields.get('Version')?.type === 'Number';
  const body = { ...data, Version: isNumber ? Number(next) : next };
  if (dryRun) {
    await checkWrites(context, [{ kind: 'update', className, objectId: row.objectId, body }]);
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

/** Increments the version; one that is not an integer was set by another client and is replaced by a new id. */
const nextVersion = (version: string): string => (/^\d{1,15}$/.test(version) ? String(Number(version) + 1) : newSiteId());

/** Compares version and time: other clients may write without a new version, or twice within a millisecond. */
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
