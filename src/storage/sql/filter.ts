import type { FieldRef, Filter, SubQuery } from '../../query/model/filter.ts';
import type { Field } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import { writeGuard } from './row-security.ts';
import { writeSource } from './row-source.ts';
import { type SqlWriter, writeCompare, writeIn } from './sql-writer.ts';
import { needsGuardFirst } from './timing-safe-filter.ts';

const which = { hasAny: 'any', hasAll: 'all', hasOnly: 'only' } as const;
type Of<K extends Filter['kind']> = Extract<Filter, { kind: K }>;

/**
 * Writes a filter as one SQL expression that may stand between ANDs. It may evaluate to NULL instead of false; `not` accounts for that.
 * @param alias of the record table, whose key column is `_seq`
 */
export function writeFilter(out: SqlWriter, filter: Filter, alias: string): void {
  const long = out.interruptible ? longValueOf(filter) : null;
  if (long === null) {
    writeCondition(out, filter, alias);
    return;
  }
  out.dialect.interruptCheckIfLong(out.add('('), alias, long.column);
  writeCondition(out, filter, alias);
  out.add(')');
}

/** Returns the field whose whole value a condition scans; `null` if it scans none. */
function longValueOf(filter: Filter): Field | null {
  switch (filter.kind) {
    case 'exists':
    case 'jsonCompare':
    case 'hasAny':
    case 'hasAll':
    case 'hasOnly':
    case 'hasOrdered':
    case 'inQuery':
    case 'select':
      return storageOf(filter.ref.field) === 'json' ? filter.ref.field : null;
    case 'regex': {
      const at = filter.regex.literal?.at;
      return at === 'start' || at === 'whole' ? null : filter.ref.field;
    }
    default:
      return null;
  }
}

function writeCondition(out: SqlWriter, filter: Filter, alias: string): void {
  switch (filter.kind) {
    case 'always':
      out.add('true');
      break;
    case 'never':
      out.add('false');
      break;
    case 'and':
      writeAnd(out, filter.items, alias);
      break;
    case 'or':
      out.joining(false, () => writeList(out, filter.items, ' OR ', alias));
      break;
    case 'not':
      out.joining(false, () => writeFilter(out.add('(('), filter.item, alias));
      out.add(') IS NOT TRUE)');
      break;
    case 'guard':
      writeGuard(out, filter.guard, filter.table, alias);
      break;
    case 'exists':
      writeExists(out, filter.ref, alias);
      break;
    case 'compare':
      writeCompare(out, alias, filter.field, filter.op, filter.value);
      break;
    case 'in':
      writeIn(out, alias, filter.field, filter.values);
      break;
    case 'jsonCompare':
      out.dialect.jsonCompare(out, alias, filter.ref, filter.op, filter.operand);
      break;
    case 'hasAny':
    case 'hasAll':
    case 'hasOnly':
      out.dialect.jsonHas(out, alias, filter.ref, which[filter.kind], filter.operands);
      break;
    case 'hasOrdered':
      out.dialect.jsonHasOrdered(out, alias, filter.ref, filter.op, filter.operand);
      break;
    case 'regex':
      writeRegex(out, filter, alias);
      break;
    case 'text':
      out.dialect.search(out, alias, filter.table, filter.search);
      break;
    case 'candidates':
      out.dialect.candidates(out, alias, filter.table, filter.search, (inner) => {
        if (filter.guard) writeGuard(out.add(' AND '), filter.guard, filter.table, inner);
      });
      break;
    case 'places':
      out.column(alias, '_seq').add(' > ').bind(filter.after);
      out.add(' AND ').column(alias, '_seq').add(' <= ').bind(filter.upTo);
      break;
    case 'newest':
      out
        .column(alias, '_seq')
        .add(' > (SELECT max("_seq") - ')
        .bind(filter.count)
        .add(' FROM ')
        .table(filter.table.sqlName)
        .add(')');
      break;
    case 'inQuery':
      writeInQuery(out, filter, alias);
      break;
    case 'select':
      writeSelect(out, filter, alias);
      break;
    case 'relatedTo':
      writeRelatedTo(out, filter, alias);
      break;
    case 'hasMember':
      writeHasMember(out, filter, alias);
      break;
  }
}

/** Writes ` WHERE ...`, or nothing if there is no condition. */
export function writeWhere(out: SqlWriter, filter: Filter, alias: string): void {
  if (!out.interruptible && filter.kind === 'always') return;
  out.add(' WHERE ');
  if (out.interruptible) out.dialect.interruptCheck(out, alias);
  if (filter.kind === 'always') return;
  writeFilter(out.interruptible ? out.add(' AND ') : out, filter, alias);
}

function writeAnd(out: SqlWriter, items: readonly Filter[], alias: string): void {
  const guards = items.filter(({ kind }) => kind === 'guard');
  const slow = guards.length === 0 ? [] : items.filter(needsGuardFirst);
  if (slow.length === 0) {
    writeList(out, items, ' AND ', alias);
    return;
  }
  const others = items.filter((item) => item.kind !== 'guard' && !slow.includes(item));
  writeList(out.add('('), others, ' AND ', alias);
  writeList(out.add(' AND CASE WHEN '), guards, ' AND ', alias);
  out.joining(false, () => writeList(out.add(' THEN '), slow, ' AND ', alias));
  out.add(' END)');
}

/** Engines limit the depth of expressions. A chain of n operators has depth n; halving it gives log n. */
function writeList(
  out: SqlWriter,
  items: readonly Filter[],
  operator: ' AND ' | ' OR ',
  alias: string,
  from = 0,
  to = items.length,
): void {
  if (to === from) {
    out.add(operator === ' AND ' ? 'true' : 'false');
    return;
  }
  out.add('(');
  if (to - from <= 8) {
    for (let i = from; i < to; i++) writeFilter(i > from ? out.add(operator) : out, items[i] as Filter, alias);
  } else {
    const middle = (from + to) >> 1;
    writeList(out, items, operator, alias, from, middle);
    writeList(out.add(operator), items, operator, alias, middle, to);
  }
  out.add(')');
}

function writeExists(out: SqlWriter, ref: FieldRef, alias: string): void {
  // A Relation always exists and has no column. Reference: types.md#relation.
  if (storageOf(ref.field) === 'relation') out.add('true');
  else if (ref.path.length === 0) out.column(alias, ref.field.column).add(' IS NOT NULL');
  else out.dialect.jsonExists(out, alias, ref);
}

function writeRegex(out: SqlWriter, { ref, regex }: Of<'regex'>, alias: string): void {
  if (storageOf(ref.field) === 'json') out.dialect.jsonMatches(out, alias, ref, regex);
  else out.dialect.textMatches(out, `${alias}.${out.dialect.quoted(ref.field.column)}`, regex);
}

/** Writes the sub-query with the columns that `columns` writes. A limited one takes records in creation order. */
function writeSubQuery(out: SqlWriter, query: SubQuery, columns: (alias: string) => void): void {
  out.joining(true, () => writeRows(out, query, columns));
}

function writeRows(out: SqlWriter, query: SubQuery, columns: (alias: string) => void): void {
  const alias = out.newAlias();
  out.add('SELECT ');
  columns(alias);
  writeSource(out.add(' FROM '), query.table, query.filter, alias);
  writeWhere(out, query.filter, alias);
  if (query.limit === undefined && !query.skip) return;
  out.add(' ORDER BY ').column(alias, '_seq');
  out.add(' LIMIT ').bind(query.limit !== undefined && Number.isFinite(query.limit) ? query.limit : out.dialect.noLimit);
  if (query.skip) out.add(' OFFSET ').bind(query.skip);
}

function writeInQuery(out: SqlWriter, { ref, target }: Of<'inQuery'>, alias: string): void {
  const ids = () => writeSubQuery(out, target, (inner) => out.column(inner, 'objectId'));
  const { field } = ref;
  if (storageOf(field) === 'json') {
    out.dialect.jsonPointsInto(out, alias, ref, target.table.className, ids);
    return;
  }
  if (field.type !== 'Relation') {
    writeAmong(out, () => out.column(alias, field.column), ids);
    return;
  }
  const owners = () => {
    out.add('SELECT owner FROM ').table(field.column).add(' WHERE ');
    out.joining(true, () => writeAmong(out, () => out.name('member'), ids));
  };
  writeAmong(out, () => out.column(alias, 'objectId'), owners);
}

/** Writes whether an operand is among the rows of a query. */
function writeAmong(out: SqlWriter, operand: () => void, query: () => void): void {
  if (!out.joins) {
    out.dialect.isAmong(out, operand, query);
    return;
  }
  operand();
  out.add(' IN (');
  query();
  out.add(')');
}

/** Columns of the same storage are compared directly, others by the JSON text of their values, so that "5" never equals 5. */
function writeSelect(out: SqlWriter, { ref, target, key }: Of<'select'>, alias: string): void {
  const alike = storageOf(ref.field) === storageOf(key.field) && ref.field.targetClass === key.field.targetClass;
  if (alike && storageOf(ref.field) !== 'json') {
    const values = () => writeSubQuery(out, target, (inner) => out.column(inner, key.field.column));
    writeAmong(out, () => out.column(alias, ref.field.column), values);
  } else if (storageOf(ref.field) === 'json') {
    out.dialect.wireTexts(out.add('EXISTS (SELECT 1 FROM '), alias, ref);
    out.add(' AS v WHERE ');
    const keys = () => writeSubQuery(out, target, (inner) => out.dialect.wireText(out, inner, key));
    out.dialect.isAmong(out, () => out.add('v.value'), keys);
    out.add(')');
  } else {
    const values = () => writeSubQuery(out, target, (inner) => out.dialect.wireText(out, inner, key));
    writeAmong(out, () => out.dialect.wireText(out, alias, ref), values);
  }
}

function writeRelatedTo(out: SqlWriter, { relation, ownerId, owner }: Of<'relatedTo'>, alias: string): void {
  const members = () => {
    const inner = out.newAlias();
    out.add('SELECT member FROM ').table(relation.column).add(' WHERE owner = ').bind(ownerId);
    writeSource(out.add(' AND EXISTS (SELECT 1 FROM '), owner.table, owner.filter, inner);
    out.add(' WHERE ').column(inner, 'objectId').add(' = ').bind(ownerId);
    if (owner.filter.kind !== 'always') writeFilter(out.add(' AND '), owner.filter, inner);
    out.add(')');
  };
  writeAmong(
    out,
    () => out.column(alias, 'objectId'),
    () => out.joining(true, members),
  );
}

function writeHasMember(out: SqlWriter, { relation, memberIds }: Of<'hasMember'>, alias: string): void {
  const owners = () => {
    out.add('SELECT owner FROM ').table(relation.column).add(' WHERE ');
    out.dialect.isMember(out, () => out.name('member'), memberIds, 'text');
  };
  writeAmong(out, () => out.column(alias, 'objectId'), owners);
}
