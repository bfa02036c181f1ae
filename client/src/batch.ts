import { itemError, type RecordServiceError } from './error.ts';
import type { Transport, WriteOptions } from './transport.ts';
import type { Created, TableTypes, Updated } from './types.ts';
import { entityTag, segment, type Version } from './wire.ts';

declare const answered: unique symbol;

/** One write of a batch, with the type of its answer. */
export interface Item<A = unknown> {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  /** With the prefix: `/platform/classes/Tasks`. */
  readonly path: string;
  readonly body?: object | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: '*' | undefined;
  readonly [answered]?: A;
}

/** Makes items that write one table. */
export interface TableItems<R, C, U> {
  create(fields: C, options?: { readonly ifNoneMatch?: '*' | undefined }): Item<Created>;
  update(id: string, fields: U, options?: { readonly ifMatch?: Version | undefined }): Item<Updated<R>>;
  delete(id: string, options?: { readonly ifMatch?: Version | undefined }): Item<Record<string, never>>;
}

export type ItemsOf<Types> = Types extends TableTypes ? TableItems<Types['record'], Types['create'], Types['update']> : never;

/** What became of an item. */
export type Outcome<A> = { success: A; error?: undefined } | { success?: undefined; error: RecordServiceError };

/** The answers of items, in their order. */
export type Answers<L extends readonly Item[]> = { -readonly [N in keyof L]: L[N] extends Item<infer A> ? A : never };
export type Outcomes<L extends readonly Item[]> = { -readonly [N in keyof L]: L[N] extends Item<infer A> ? Outcome<A> : never };

/** Returns what makes items of a table. */
export function itemsOf(name: string): TableItems<object, object, object> {
  const path = `/platform/classes/${segment(name, 'the table')}`;
  const one = (id: string) => `${path}/${segment(id, 'the objectId')}`;
  const condition = (version: Version | undefined) => version !== undefined && { ifMatch: entityTag(version) };
  return {
    create: (body, options) => ({ method: 'POST', path, body, ...options }),
    update: (id, body, { ifMatch } = {}) => ({ method: 'PUT', path: one(id), body, ...condition(ifMatch) }),
    delete: (id, { ifMatch } = {}) => ({ method: 'DELETE', path: one(id), ...condition(ifMatch) }),
  };
}

type Sent = { success: unknown } | { error: Record<string, unknown> };

/** Sends items, each with an outcome of its own. @throws RecordServiceError if the request as a whole is refused */
export async function sendBatch(
  transport: Transport,
  requests: readonly Item[],
  options?: WriteOptions,
): Promise<Outcome<unknown>[]> {
  const call = { method: 'POST', path: '/platform/batch', json: { requests }, effect: 'keyed' } as const;
  const { body, requestId } = await transport.send<Sent[]>(call, options);
  return body.map((one) => ('error' in one ? { error: itemError(one.error, requestId) } : one));
}

/** Sends items that are all done, or none. @throws RecordServiceError of the first that is refused, with its `index` in `details` */
export async function sendTransaction(
  transport: Transport,
  requests: readonly Item[],
  options?: WriteOptions,
): Promise<unknown[]> {
  const json = { transaction: true, requests };
  const { body } = await transport.send<{ success: unknown }[]>(
    { method: 'POST', path: '/platform/batch', json, effect: 'keyed' },
    options,
  );
  return body.map(({ success }) => success);
}
