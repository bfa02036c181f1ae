import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { presentName } from '../schema/former-names.ts';
import type { Schema } from '../schema/model.ts';

/**
 * Replaces names of fields in definitions (`where`, orders, templates) by their present ones. Definitions may name fields of several tables: in
 * sub-queries, and through Pointers. Whatever has not the form of a definition stays as it is.
 */
export class PresentNames {
  readonly #schema: Pick<Schema, 'tables'>;

  /** @param schema after the renames */
  constructor(schema: Pick<Schema, 'tables'>) {
    this.#schema = schema;
  }

  /** Replaces the names in a path, which follows Pointers from the class: `["AccountId", "City"]`. */
  path(className: string, path: readonly string[]): string[] {
    const renamed: string[] = [];
    let table = this.#schema.tables.get(className);
    for (const segment of path) {
      const name = table ? presentName(table, segment) : segment;
      renamed.push(name);
      const field = table?.fields.get(name);
      table = field?.type === 'Pointer' ? this.#schema.tables.get(field.targetClass ?? '') : undefined;
    }
    return renamed;
  }

  /** Does the same for a dotted name. */
  dotted(className: string, name: string): string {
    return this.path(className, name.split('.')).join('.');
  }

  /** Returns the class that a Pointer field points at; `null` if there is no such field. */
  targetOf(className: string, name: string): string | null {
    const table = this.#schema.tables.get(className);
    const field = table?.fields.get(presentName(table, name));
    return field?.type === 'Pointer' ? (field.targetClass ?? null) : null;
  }

  /** Replaces the names in a comma-separated order. */
  order(className: string, order: string): string {
    return order.replace(/[^,]+/g, (part) => {
      const [before = ''] = /^\s*-?/.exec(part) ?? [];
      const name = part.slice(before.length);
      const end = name.trimEnd().length;
      return `${before}${this.dotted(className, name.slice(0, end))}${name.slice(end)}`;
    });
  }

  /** Does the same for the keys of an object of values by (dotted) names. */
  keys(className: string, values: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [this.dotted(className, name), value]));
  }

  /** Does the same for a `where`, sub-queries included. */
  where(className: string, where: JsonValue): JsonValue {
    if (!isJsonObject(where)) return where;
    const entries = Object.entries(where).map(([name, value]): [string, JsonValue] => {
      switch (name) {
        case '$and':
        case '$or':
        case '$nor':
          return [name, Array.isArray(value) ? value.map((branch) => this.where(className, branch)) : value];
        case '$not':
          return [name, this.where(className, value)];
        case '$relatedTo':
          return [name, this.#relatedTo(value)];
        default:
          return name.startsWith('$') ? [name, value] : [this.dotted(className, name), this.#constraint(value)];
      }
    });
    const renamed = Object.fromEntries(entries);
    // Two names may have become one: both conditions stay.
    if (Object.keys(renamed).length === entries.length) return renamed;
    return { $and: entries.map(([name, value]) => ({ [name]: value })) };
  }

  #relatedTo(value: JsonValue): JsonValue {
    if (!isJsonObject(value)) return value;
    const [object, key] = [own(value, 'object'), own(value, 'key')];
    const className = isJsonObject(object) ? own(object, 'className') : undefined;
    if (typeof className !== 'string' || typeof key !== 'string') return value;
    return { ...value, key: this.dotted(className, key) };
  }

  #constraint(value: JsonValue): JsonValue {
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([operator, operand]) => [operator, this.#operand(operator, operand)]));
  }

  #operand(operator: string, operand: JsonValue): JsonValue {
    if (!isJsonObject(operand)) return operand;
    switch (operator) {
      case '$not':
        return this.#constraint(operand);
      case '$inQuery':
      case '$notInQuery':
        return this.#subQuery(operand);
      case '$select':
      case '$dontSelect': {
        const [query, key] = [own(operand, 'query'), own(operand, 'key')];
        if (!isJsonObject(query)) return operand;
        const className = this.#classOf(query);
        return {
          ...operand,
          query: this.#subQuery(query),
          ...(typeof key === 'string' && className !== null && { key: this.dotted(className, key) }),
        };
      }
      default:
        return operand;
    }
  }

  #subQuery(query: JsonObject): JsonObject {
    const className = own(query, 'className');
    const queried = this.#classOf(query);
    if (typeof className !== 'string' || queried === null) return query;
    const [where, key] = [own(query, 'where'), own(query, 'redirectClassNameForKey')];
    return {
      ...query,
      ...(where !== undefined && { where: this.where(queried, where) }),
      ...(typeof key === 'string' && { redirectClassNameForKey: this.dotted(className, key) }),
    };
  }

  /** Returns the class whose records a sub-query finds: that of a Relation's members if it is redirected. */
  #classOf(query: JsonObject): string | null {
    const [className, key] = [own(query, 'className'), own(query, 'redirectClassNameForKey')];
    if (typeof className !== 'string') return null;
    const table = this.#schema.tables.get(className);
    const field = table && typeof key === 'string' ? table.fields.get(presentName(table, key)) : undefined;
    return field?.type === 'Relation' ? (field.targetClass ?? className) : className;
  }
}
