import { catalogue, type ErrorKey } from '../../src/errors/catalogue.ts';
import { meanings } from '../../src/errors/meanings.ts';
import { code, table } from './page.ts';

interface Row {
  readonly key: ErrorKey;
  readonly code: number | undefined;
  readonly status: number;
  readonly text: string;
}

/** Keys without a code that functions and forms answer. */
const ofFunctions: ReadonlySet<ErrorKey> = new Set([
  'userFunctionNotFound',
  'formDisabled',
  'missingInput',
  'functionFailed',
  'functionTimeout',
]);

/** Parameter names whose placeholder is another word. */
const placeholders: Readonly<Record<string, string>> = {
  className: 'Table',
  field: 'Field',
  why: 'reason',
  id: 'objectId',
  body: 'Table',
  path: 'path',
};

/** The sections of errors.md: errors with a code, in the order of codes; without one; of functions. */
export function errorSections(): string[] {
  const rows = (Object.keys(catalogue) as ErrorKey[]).map(rowOf);
  const coded = rows.filter((row) => row.code !== undefined).sort((a, b) => (a.code ?? 0) - (b.code ?? 0));
  const bare = rows.filter((row) => row.code === undefined);
  return [
    table(
      ['Code', 'Status', 'Message', 'When it occurs'],
      coded.map((row, index) => [coded[index - 1]?.code === row.code ? String(row.code) : anchored(row.code), ...cellsOf(row)]),
    ),
    ...[false, true].map((isOfFunction) =>
      table(
        ['Status', 'Message', 'When it occurs'],
        bare.filter(({ key }) => ofFunctions.has(key) === isOfFunction).map(cellsOf),
      ),
    ),
  ];
}

/** The first row of a code has an anchor: `errors.md#119`. */
function anchored(number: number | undefined): string {
  return `<a id="${number}"></a>${number}`;
}

function cellsOf({ key, status, text }: Row): string[] {
  return [String(status), text === '' ? '(none)' : code(text), meanings[key]];
}

function rowOf(key: ErrorKey): Row {
  const entry: { readonly code?: number; readonly status: number; readonly text: (...args: never[]) => string } = catalogue[key];
  const text = (entry.text as (...args: string[]) => string)(...parametersOf(entry.text).map(placeholder));
  return { key, code: entry.code, status: entry.status, text };
}

/** The names of a function's parameters. */
function parametersOf(text: (...args: never[]) => string): string[] {
  const [, list = ''] = /^\(([^)]*)\)/.exec(String(text)) ?? [];
  return list.match(/[A-Za-z]\w*/g) ?? [];
}

function placeholder(name: string): string {
  return `<${placeholders[name] ?? name}>`;
}
