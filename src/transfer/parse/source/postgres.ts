import pg from 'pg';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { indexesOf, optionsOf } from './mongo-schema.ts';
import { postgresConfig } from './postgres-config.ts';
import { recordOfRow } from './postgres-record.ts';
import {
  joinName,
  ownFields,
  type ParseClass,
  type ParseField,
  type ParseMember,
  type ParseRecord,
  type ParseSource,
} from './source.ts';
import { volatileClasses } from './volatile.ts';

/** Maximum number of characters received but not consumed; the socket is paused beyond that. */
const MAX_BUFFERED_CHARS = 1 * 1024 * 1024;

/** Parse Server's tables in PostgreSQL (`PostgresStorageAdapter.js`), read in one repeatable-read transaction. */
export class PostgresSource implements ParseSource {
  readonly #client: pg.Client;

  /** Connects to the database. @throws OperatorError if it cannot be reached, or contains no Parse Server */
  static async open(url: string): Promise<PostgresSource> {
    const client = new pg.Client(postgresConfig(url));
    // A broken connection also rejects the statement in progress.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await client.query(
        "SELECT set_config(name, value, true) FROM (VALUES ('statement_timeout', '0'), ('idle_in_transaction_session_timeout', '0'), ('datestyle', 'ISO')) AS s (name, value)",
      );
      const { rows } = await client.query(`SELECT to_regclass('"_SCHEMA"') IS NOT NULL AS found`);
      if (!rows[0]?.found) throw new OperatorError('--from: this database has no table _SCHEMA, which Parse Server keeps');
      return new PostgresSource(client);
    } catch (error) {
      client.connection.stream.destroy();
      throw describedError(error);
    }
  }

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  async classes(): Promise<readonly ParseClass[]> {
    const rows = await this.#query('SELECT "className", "schema" FROM "_SCHEMA" ORDER BY "className" COLLATE "C"', []);
    return rows.map(([className, schema]) => classOf(String(className), isJsonObject(schema) ? (schema as JsonObject) : {}));
  }

  async others(): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const name of volatileClasses) {
      if ((await this.#columnsOf(name)).size === 0) continue;
      const [row] = await this.#query(`SELECT count(*)::float8 FROM ${quoted(name)}`, []);
      found.set(name, Number(row?.[0] ?? 0));
    }
    return found;
  }

  async count(className: string): Promise<number> {
    if ((await this.#columnsOf(className)).size === 0) return 0;
    const [row] = await this.#query(`SELECT count(*)::float8 FROM ${quoted(className)}`, []);
    return Number(row?.[0] ?? 0);
  }

  async *records(parseClass: ParseClass): AsyncGenerator<ParseRecord> {
    const { className } = parseClass;
    const names = [...(await this.#columnsOf(className))];
    if (!names.includes('objectId')) return;
    const order = names.includes('createdAt') ? '"createdAt", "objectId"' : '"objectId"';
    const text = `SELECT ${names.map(quoted).join(', ')} FROM ${quoted(className)} ORDER BY ${order}`;
    for await (const row of this.#rows(text)) yield recordOfRow(names, row, parseClass);
  }

  async *members(className: string, field: string): AsyncGenerator<ParseMember> {
    const table = joinName(className, field);
    if ((await this.#columnsOf(table)).size === 0) return;
    const text = `SELECT "owningId", "relatedId" FROM ${quoted(table)} ORDER BY "owningId", "relatedId"`;
    for await (const [owner, member] of this.#rows(text)) yield { owner: String(owner), member: String(member) };
  }

  notes(): readonly string[] {
    return [];
  }

  async close(): Promise<void> {
    // Does not wait for a statement in progress.
    this.#client.connection.stream.destroy();
  }

  /** Returns the columns of a table; empty if it does not exist. */
  async #columnsOf(table: string): Promise<ReadonlySet<string>> {
    const rows = await this.#query(
      'SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum',
      [table],
    );
    return new Set(rows.map(([name]) => String(name)));
  }

  async #query(text: string, values: unknown[]): Promise<unknown[][]> {
    try {
      return (await this.#client.query({ text, values, rowMode: 'array' })).rows;
    } catch (error) {
      throw describedError(error);
    }
  }

  /** Returns the rows of a statement as they arrive, with back-pressure. */
  async *#rows(text: string): AsyncGenerator<unknown[]> {
    const { stream } = this.#client.connection;
    let rows: unknown[][] = [];
    let bufferedChars = 0;
    let ended = false;
    let failure: unknown;
    let wake = () => {};
    const types = {
      getTypeParser(...given: Parameters<typeof pg.types.getTypeParser>) {
        const parse = pg.types.getTypeParser(...given);
        return (value: string) => {
          bufferedChars += value.length;
          return parse(value);
        };
      },
    };
    const query = this.#client.query(new pg.Query({ text, rowMode: 'array', types } as pg.QueryConfig));
    query.on('row', (row) => {
      rows.push(row as unknown as unknown[]);
      if (bufferedChars > MAX_BUFFERED_CHARS) stream.pause();
      wake();
    });
    query.on('end', () => {
      ended = true;
      wake();
    });
    query.on('error', (error) => {
      failure = error;
      ended = true;
      wake();
    });
    while (!ended || rows.length > 0) {
      if (rows.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const taken = rows;
      rows = [];
      bufferedChars = 0;
      stream.resume();
      yield* taken;
    }
    if (failure !== undefined) throw describedError(failure);
  }
}

const quoted = (name: string): string => pg.escapeIdentifier(name);

function classOf(className: string, schema: JsonObject): ParseClass {
  const fields = new Map<string, ParseField>();
  const defined = own(schema, 'fields');
  for (const [name, definition] of Object.entries(isJsonObject(defined) ? defined : {})) {
    if (name.startsWith('_') || ownFields.has(name) || !isJsonObject(definition)) continue;
    fields.set(name, fieldOf(definition));
  }
  const permissions = own(schema, 'classLevelPermissions');
  return {
    className,
    fields,
    permissions: isJsonObject(permissions) ? permissions : null,
    indexes: indexesOf(own(schema, 'indexes')),
  };
}

function fieldOf(definition: JsonObject): ParseField {
  const type: JsonValue | undefined = own(definition, 'type');
  const target = own(definition, 'targetClass');
  return {
    type: String(type),
    ...(typeof target === 'string' && { targetClass: target }),
    options: optionsOf(definition),
  };
}

/** Returns an error with a message for the operator, without the address, which may contain a password. */
function describedError(error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const { message, code, errors } = error as { message?: string; code?: string; errors?: readonly Error[] };
  // If a host name has several addresses, each has failed with its own error.
  const text = message || errors?.[0]?.message || code || 'it does not answer';
  return new OperatorError(`--from: PostgreSQL: ${text.replaceAll(/\s+/g, ' ')}`);
}
