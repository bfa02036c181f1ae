import { isJsonObject, type JsonObject, type JsonValue } from '../../src/kernel/json.ts';
import { defaultFields } from '../../src/schema/defaults.ts';
import { isDescribed, isHidden, isSealed } from '../../src/schema/system-tables.ts';
import { readTableDefaults, readTemplate, type TemplateTable } from '../../src/systems/template/template.ts';
import { slugOf } from '../headings.ts';
import { code, paragraphs, table, wrap } from './page.ts';

/** More first rows than these are only counted. */
const MAX_ROWS_SHOWN = 12;

/** A table with longer values is shown without its rows. */
const MAX_CELL_LENGTH = 120;

const dictionary = '_Dictionary';

/** The sections of tables.md: the fields of every table, the list of tables, and each table below a heading of its own. */
export async function tableSections(): Promise<string[]> {
  const template = await readTemplate();
  const { labels: defaultLabels } = await readTableDefaults(new Set());
  const shown = template.filter(({ className }) => !isHidden(className));
  const listed = shown.filter(({ className }) => !isSealed(className));
  const labels = labelsOf(template);
  return [
    table(
      ['Field', 'Type', 'Label'],
      [...defaultFields].map(([name, field]) => [code(name), typeOf({ ...field }), defaultLabels.get(name) ?? '']),
    ),
    paragraphs(
      `There are ${listed.length} tables, and the log of administrators, which lists of tables leave out.`,
      wrap(shown.map(({ className }) => `[${escaped(className)}](#${slugOf(className)})`).join(', ')),
    ),
    paragraphs(...shown.map((one) => describe(one, labels.get(one.className)))),
  ];
}

type Labels = ReadonlyMap<string, string>;

/** Labels by table and field. */
function labelsOf(template: readonly TemplateTable[]): Map<string, Map<string, string>> {
  const labels = new Map<string, Map<string, string>>();
  const rows = template.find(({ className }) => className === dictionary)?.rows ?? [];
  for (const { tblName, field, value } of rows) {
    const ofTable = labels.get(String(tblName)) ?? new Map<string, string>();
    labels.set(String(tblName), ofTable.set(String(field), String(value)));
  }
  return labels;
}

function describe({ className, definition, rows }: TemplateTable, labels: Labels = new Map()): string {
  const fields = objectOf(definition.fields);
  const names = Object.keys(fields).filter((name) => isDescribed(className, name));
  return paragraphs(
    `## ${escaped(className)}`,
    names.length === 0
      ? 'It has only the fields of every table.'
      : table(
          ['Field', 'Type', 'Label'],
          names.map((name) => [code(name), typeOf(objectOf(fields[name])), labels.get(name) ?? '']),
        ),
    permissionsOf(objectOf(definition.classLevelPermissions)),
    timelineOf(definition.timeline),
    indexesOf(objectOf(definition.indexes)),
    className === dictionary ? `First rows: ${rows.length}, one for each label.` : rowsOf(rows),
  );
}

function typeOf({ type, targetClass }: JsonObject): string {
  return code(targetClass === undefined ? String(type) : `${type}<${targetClass}>`);
}

/** Who may do what. Actions with the same entities are named together. */
function permissionsOf({ readUserFields, ...permissions }: JsonObject): string {
  const readers = Array.isArray(readUserFields) ? readUserFields : [];
  const groups = Map.groupBy(Object.entries(permissions), ([action, granted]) => {
    const isRead = action === 'find' || action === 'get';
    return entitiesOf(isRead && readers.length > 0 ? { ...objectOf(granted), pointerFields: readers } : objectOf(granted));
  });
  const texts = [...groups].map(([entities, members]) => `${members.map(([action]) => code(action)).join(', ')}: ${entities}`);
  return wrap(`Permissions: ${texts.join('; ')}.`);
}

function entitiesOf({ pointerFields, ...entities }: JsonObject): string {
  const names = Object.keys(entities).map((entity) => entity.replace(/^role:/, ''));
  const fields = Array.isArray(pointerFields) ? pointerFields.map((field) => `the user in ${code(String(field))}`) : [];
  return [...names, ...fields].join(', ') || 'keys only';
}

function timelineOf(timeline: JsonValue | undefined): string {
  if (!isJsonObject(timeline)) return '';
  const shown = Object.keys(objectOf(timeline.displayFields)).map(code);
  return wrap(`Timeline: on, showing ${shown.join(', ')}.`);
}

function indexesOf(indexes: JsonObject): string {
  const texts = Object.entries(indexes).map(([name, keys]) => {
    const fields = Object.entries(objectOf(keys)).map(
      ([field, direction]) => `${field} ${direction === 1 ? 'ascending' : 'descending'}`,
    );
    return `${code(name)} (${fields.join(', ')})`;
  });
  return texts.length === 0 ? '' : wrap(`Indexes: ${texts.join(', ')}.`);
}

function rowsOf(rows: readonly JsonObject[]): string {
  const [first] = rows;
  if (!first) return '';
  const columns = [...new Set(rows.flatMap(Object.keys))].filter((name) => name !== 'objectId');
  const cells = rows.map((row) => columns.map((name) => textOf(row[name])));
  const isShort = cells.flat().every((cell) => cell.length <= MAX_CELL_LENGTH);
  if (rows.length > MAX_ROWS_SHOWN || !isShort) return `First rows: ${rows.length}.`;
  return paragraphs('First rows:', table(columns, cells));
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (isJsonObject(value) && value.__type === 'Date') return String(value.iso);
  return typeof value === 'object' ? code(JSON.stringify(value)) : String(value);
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value as JsonValue) ? (value as JsonObject) : {};
}

/** An underscore at the beginning of a name would be taken for emphasis. */
function escaped(name: string): string {
  return name.replace(/^_/, '\\_');
}
