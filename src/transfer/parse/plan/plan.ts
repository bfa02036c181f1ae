import { OperatorError } from '../../../kernel/operator-error.ts';
import { similarTo } from '../../../kernel/similar.ts';
import { checkClassName, type Schema } from '../../../schema/model.ts';
import type { ParseClass } from '../source/source.ts';
import { type PlannedFields, planFields, refusedBy } from './fields.ts';
import { type PlannedIndexes, planIndexes } from './indexes.ts';
import { type MappedPermissions, mapPermissions } from './permissions.ts';

/** A class to import. */
export interface PlannedClass extends PlannedFields {
  readonly source: ParseClass;
  readonly className: string;
  readonly permissions: MappedPermissions;
  readonly indexes: PlannedIndexes;
}

/** A migration plan. */
export interface MigrationPlan {
  /** Users first, since other objects refer to them. */
  readonly classes: readonly PlannedClass[];
  /** Classes of the schema that have no counterpart here. */
  readonly notImported: readonly string[];
}

/** Parse Server's own classes that have a table here. */
const shared: ReadonlySet<string> = new Set(['_User', '_Role']);
/** Maximum number of reasons in one message. */
const MAX_REASONS = 10;

/**
 * Plans the migration of the source's classes.
 * @param only names of the requested classes; `null` for all
 * @throws OperatorError if a class cannot be imported as a whole
 */
export function planMigration(schema: Schema, sources: readonly ParseClass[], only: readonly string[] | null): MigrationPlan {
  const names = sources.map(({ className }) => className);
  for (const name of only ?? []) {
    if (names.includes(name) && (!name.startsWith('_') || shared.has(name))) continue;
    const nearest = similarTo(name, names);
    const hint = nearest === undefined ? '' : `; is ${nearest} meant?`;
    throw new OperatorError(`--only: ${name} is ${names.includes(name) ? 'not taken over' : 'no class of the source'}${hint}`);
  }
  const classes: PlannedClass[] = [];
  const notImported: string[] = [];
  const refusals: string[] = [];
  for (const source of sources) {
    const { className } = source;
    if (only && !only.includes(className)) continue;
    if (className.startsWith('_') && !shared.has(className)) {
      notImported.push(className);
      continue;
    }
    const planned = planClass(schema, source);
    const name =
      className === 'Config'
        ? 'Config is a table that this service keeps'
        : refusedBy(() => checkClassName(className), className);
    refusals.push(...(name === null ? planned.refusals : [name]));
    classes.push(planned);
  }
  if (refusals.length > 0) throw new OperatorError(refusalText(refusals));
  if (classes.length === 0) throw new OperatorError('--from: the source holds no classes');
  const order = ['_User', '_Role'];
  const placeOf = ({ className }: PlannedClass) => (order.includes(className) ? order.indexOf(className) : order.length);
  classes.sort((a, b) => placeOf(a) - placeOf(b) || (a.className < b.className ? -1 : 1));
  return { classes, notImported: notImported.sort() };
}

function refusalText(refusals: readonly string[]): string {
  const more = refusals.length > MAX_REASONS ? `; and ${refusals.length - MAX_REASONS} more` : '';
  return `nothing was written: ${refusals.slice(0, MAX_REASONS).join('; ')}${more}; change the source, or name the other classes with --only`;
}

function planClass(schema: Schema, source: ParseClass): PlannedClass {
  const { className } = source;
  const table = schema.tables.get(className);
  const planned = planFields(source, table);
  const after = new Map([...(table?.fields ?? []), ...planned.added.map((field) => [field.name, field] as const)]);
  return {
    ...planned,
    source,
    className,
    permissions: mapPermissions(source, after),
    indexes: planIndexes(source, after),
  };
}
