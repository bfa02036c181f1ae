/**
 * Holds statements to the rules: what a Citus coordinator cannot plan, or what goes wrong there in silence, for tables of a system: each in a schema
 * that lies on one worker as a whole. Each rule was tried on Citus 13.2.2 with bound parameters, prepared and executed seven times. A rule may forbid
 * more than Citus does, if that keeps it short. Types are not known: of operators and casts, only a run on a cluster shows whether they are immutable.
 */
import { loadModule, parseSync } from 'libpg-query';
import { insertRules } from './insert-rules.ts';
import { modificationRules } from './modification-rules.ts';
import { placeRules } from './place-rules.ts';
import { shapeOf } from './recorder.ts';
import { REGISTRY, type Rule } from './rule.ts';
import type { Tree } from './tree.ts';

/** Setting that makes each new schema one that lies on a worker. */
const SHARDING = 'citus.enable_schema_based_sharding';

export const rules: readonly Rule[] = [...insertRules, ...modificationRules, ...placeRules];

await loadModule();

/** A rule that a statement breaks. */
export interface Offence {
  readonly text: string;
  readonly rule: Pick<Rule, 'name' | 'citus' | 'instead'>;
}

/** Returns the statements of a text, as parsed. @throws SqlError */
export const parsed = (text: string): readonly Tree[] => (parseSync(text).stmts ?? []) as unknown as readonly Tree[];

/** Returns the rules that a text of one or more statements breaks. @throws SqlError if it cannot be parsed */
export function brokenRules(text: string): Rule[] {
  const statements = parsed(text);
  return rules.filter((rule) => statements.some((statement) => rule.isBroken(statement)));
}

/** Returns what is wrong with the statements of a run, by shape. */
export function offencesOf(texts: Iterable<string>): Offence[] {
  const shapes = [...new Set([...texts].map(shapeOf))].sort();
  const broken = shapes.flatMap((text) => {
    try {
      return brokenRules(text).map((rule) => ({ text, rule }));
    } catch (error) {
      return [{ text, rule: { ...unreadable, citus: String(error) } }];
    }
  });
  return [...broken, ...unguardedRegistry(shapes)];
}

const unreadable = { name: 'statement that the parser does not know', citus: '', instead: 'a newer parser (libpg-query)' };

const unguarded = {
  name: 'registry made while new schemas lie on workers',
  citus: 'the registry lies on a worker, in silence; while that worker is away no process starts',
  instead: `SET LOCAL ${SHARDING} = off before CREATE SCHEMA ${REGISTRY}`,
};

/** The creation of the registry's schema, if no statement is about sharding. */
function unguardedRegistry(shapes: readonly string[]): Offence[] {
  const makesRegistry = new RegExp(`\\bCREATE\\s+SCHEMA\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?"?${REGISTRY}(?:"|\\s|;|$)`, 'i');
  const making = shapes.find((text) => makesRegistry.test(text));
  if (making === undefined || shapes.some((text) => text.includes(SHARDING))) return [];
  return [{ text: making, rule: unguarded }];
}

/** Statements that are shown for a rule. More differ from these in little. */
const MAX_SHOWN = 5;
/** Characters that are shown of a statement. */
const MAX_SHOWN_CHARS = 1500;

/** Returns the offences as text: by rule, the shortest statements that break it. */
export function reportOf(offences: readonly Offence[]): string {
  return [...Map.groupBy(offences, ({ rule }) => rule)]
    .map(([{ name, citus, instead }, found]) => {
      const texts = found.map(({ text }) => text.replace(/\s+/g, ' ')).sort((a, b) => a.length - b.length);
      const shown = texts.slice(0, MAX_SHOWN).map((text) => `  > ${text.slice(0, MAX_SHOWN_CHARS)}`);
      const more = texts.length > MAX_SHOWN ? [`  … and ${texts.length - MAX_SHOWN} more`] : [];
      return [name, `  Citus: ${citus}`, `  instead: ${instead}`, ...shown, ...more].join('\n');
    })
    .join('\n\n');
}
