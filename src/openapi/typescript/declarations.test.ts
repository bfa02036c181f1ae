import assert from 'node:assert/strict';
import { test } from 'node:test';
import ts from 'typescript';
import type { FieldType } from '../../schema/model.ts';
import { identifiersOf } from '../model/names.ts';
import type { DescribedField, DescribedTable } from '../model/table.ts';
import { declarationsOf } from './declarations.ts';

const field = (name: string, type: FieldType, more: Partial<DescribedField> = {}): DescribedField => ({
  name,
  type,
  isRequired: false,
  ...more,
});

function tablesOf(tables: Record<string, readonly DescribedField[]>, label?: string): DescribedTable[] {
  const identifiers = identifiersOf(Object.keys(tables));
  return Object.entries(tables).map(([className, fields]) => ({
    className,
    identifier: identifiers.get(className) as string,
    ...(label !== undefined && { label }),
    fields,
    permissions: {},
    uniqueIndexes: [],
  }));
}

/** Parses declarations. @returns the names that they declare */
function namesIn(text: string): string[] {
  const source = ts.createSourceFile('a.d.ts', text, ts.ScriptTarget.ES2022, true);
  const { parseDiagnostics } = source as unknown as { parseDiagnostics: readonly ts.DiagnosticWithLocation[] };
  assert.deepEqual(
    parseDiagnostics.map(({ messageText, start }) => [messageText, text.slice(start - 40, start + 40)]),
    [],
  );
  return source.statements.map((statement) => {
    assert.ok(ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement), statement.getText());
    return statement.name.text;
  });
}

const hostile = [
  '*/ export declare const stolen: any; /*',
  '\u2028export declare const stolen: any;//',
  "'; export declare const stolen: any; '",
  `\`}; \${x} export declare const stolen: any;`,
  'a\nb\r\n\u0000c',
  '@deprecated',
  '\u202eright to left',
  '\ud800',
  'שם "הלקוח" ב׳',
  '\\',
];

test('names and labels from outside declare nothing', () => {
  const plain = namesIn(declarationsOf(tablesOf({ T: [field('F', 'Object')], U: [] }), 'x'));
  for (const text of hostile) {
    const named = declarationsOf(
      tablesOf({ T: [field(text, 'Object'), field(`${text}2`, 'Pointer', { target: text })], U: [] }, text),
      text,
    );
    assert.deepEqual(namesIn(named), plain, text);
    const tables = {
      [text]: [field('F', 'String', { label: text, defaultValue: text })],
      U: [field('P', 'Pointer', { target: text })],
    };
    const titled = declarationsOf(tablesOf(tables, text), text);
    assert.equal(namesIn(titled).length, plain.length, text);
    assert.ok(!/[\p{Cs}\p{Bidi_Control}\u2028]|(?!\n)\p{Cc}/u.test(titled + named));
    assert.ok(!/(?:\* |\s)@deprecated/.test(titled), titled);
  }
});

test('names of tables become unique identifiers; the table keeps its name', () => {
  const names = ['Accounts', 'accounts', 'א', 'ב', '1st', 'a b', 'a-b', 'class', 'Record', 'AccountsRecord'];
  const identifiers = identifiersOf(names);
  assert.equal(new Set([...identifiers.values()].map((name) => name.toLowerCase())).size, names.length);
  for (const name of identifiers.values()) assert.match(name, /^[A-Za-z_][A-Za-z0-9_]*$/);
  const text = declarationsOf(tablesOf(Object.fromEntries(names.map((name) => [name, []]))), 'x');
  const declared = namesIn(text);
  assert.equal(new Set(declared).size, declared.length);
  for (const line of [`  Accounts: { record: AccountsRecord;`, `  'א': { record: `, `  'a b': { record: a_bRecord;`])
    assert.ok(text.includes(line), line);
});

test('no table has the name of a type that every file declares', () => {
  const shared = namesIn(declarationsOf([], 'x'));
  // A type of the table `System` may be called SystemRecord.
  const ofTables = shared.filter((name) => /(?:Record|Create|Update|Conditions|Where)$/.test(name));
  assert.deepEqual(ofTables, []);
  const tables = Object.fromEntries(shared.map((name) => [name.replace(/(?:Conditions|Where)$/, ''), []]));
  const declared = namesIn(declarationsOf(tablesOf({ ...tables, System: [] }), 'x'));
  assert.deepEqual(declared, [...new Set(declared)]);
});
