import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { splitNames } from '../model/names.ts';
import type { AggregateOptions } from '../model/options.ts';
import { type NamedParameters, queryJson, whereOption } from '../parameters.ts';

/** The stages of the short form, in the order in which they apply. */
const shortStages = ['unwind', 'group', 'project', 'sort', 'skip', 'limit', 'count'] as const;
const known: ReadonlySet<string> = new Set(['pipeline', 'where', ...shortStages]);

/**
 * The options of an aggregation, parsed from parameters when each is read (as in `FindParameters`): `pipeline`, or the short form with one
 * parameter for each stage. Reference: aggregation.md#short-form.
 */
export class AggregateParameters implements AggregateOptions {
  readonly #given: NamedParameters;

  constructor(given: NamedParameters) {
    this.#given = given;
  }

  /** @throws invalidParameter (102) for an unknown parameter, and for one of the short form beside `pipeline` */
  refuseUnknown(): void {
    for (const name of this.#given.keys())
      if (!known.has(name) || (this.#given.has('pipeline') && name !== 'pipeline' && name !== 'where'))
        fail('invalidParameter', name.slice(0, limits.nameLength));
  }

  /** @throws invalidWhere (500), badQuery (102), invalidJson (107) */
  get where(): JsonObject | undefined {
    return whereOption(this.#given.get('where'));
  }

  /** @throws badParameterValue, badQuery (102); invalidJson (107) */
  get pipeline(): readonly JsonValue[] {
    const given = this.#given.get('pipeline');
    if (given === undefined) return this.#short();
    const pipeline = typeof given === 'string' ? queryJson(given) : given;
    return Array.isArray(pipeline) ? pipeline : fail('badParameterValue', 'pipeline', 'should be a JSON array of stages');
  }

  #short(): JsonObject[] {
    return shortStages.flatMap((name) => {
      const spec = this.#given.get(name);
      return spec === undefined ? [] : [{ [`$${name}`]: typeof spec === 'string' ? specOf(name, spec) : spec }];
    });
  }
}

/**
 * Parses one parameter of the short form. Numbers and names come bare in an address, and lists of names as in `order` and `keys` of a query;
 * everything else is JSON.
 */
function specOf(name: string, text: string): JsonValue {
  if ((name === 'sort' || name === 'project') && !/^\s*[[{"]/.test(text)) return namesOf(name, text);
  const bare = name === 'count' || (name === 'unwind' && !text.startsWith('{'));
  if (bare && !text.startsWith('"')) return text;
  if ((name === 'skip' || name === 'limit') && !/^\d{1,15}$/.test(text))
    fail('badParameterValue', name, 'should be a whole number, 0 or more');
  return queryJson(text);
}

/** Parses `-a,b` of a sort as `{a: -1, b: 1}`. @throws badParameterValue (102) for a list that is too long */
function namesOf(parameter: 'sort' | 'project', list: string): JsonValue {
  const directed = parameter === 'sort';
  const names = splitNames(parameter, list);
  return Object.fromEntries(names.map((name) => (directed && name.startsWith('-') ? [name.slice(1), -1] : [name, 1])));
}
