import type { CallOptions, Transport, WriteOptions } from './transport.ts';
import type { Created, TableTypes } from './types.ts';
import { type FileValue, pointer, segment } from './wire.ts';

/** A user with the token of a session. */
export type SignedIn<User> = User & { sessionToken: string };

type UserOf<S> = S extends { _User: infer T extends TableTypes } ? T : never;
type User<S> = [UserOf<S>] extends [never]
  ? { objectId: string; username?: string; [field: string]: unknown }
  : UserOf<S>['record'];
type NewUser<S> = [UserOf<S>] extends [never] ? { [field: string]: unknown } : UserOf<S>['create'];

/** Users and their sessions. None of these calls changes the credential of the client: `crm.as(…)` returns one with another. */
export class Users<S> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Logs in, by user name or address; the application id suffices. Is not repeated, because each login opens a session. */
  logIn(login: { username: string; password: string } | { email: string; password: string }, options?: CallOptions) {
    return this.#post<SignedIn<User<S>>>('login', login, options);
  }

  /** Ends the session of the client. */
  async logOut(options?: CallOptions): Promise<void> {
    await this.#post('logout', {}, options);
  }

  /** Creates a user, with a key. The answer has the token of a session unless the user is not active. */
  async signUp(fields: NewUser<S> & { password: string }, options?: WriteOptions): Promise<Created> {
    const call = { method: 'POST', path: '/platform/users', json: fields, effect: 'keyed' } as const;
    return (await this.#transport.send<Created>(call, options)).body;
  }

  /** Returns the user of the session. */
  current(options?: CallOptions): Promise<SignedIn<User<S>>> {
    return this.#transport.read('/platform/users/me', {}, options);
  }

  /** Has a message with a link for a new password sent. The answer is the same for unknown addresses. */
  requestPasswordReset(email: string, options?: CallOptions): Promise<{ message: string }> {
    return this.#post('requestPasswordReset', { email }, options);
  }

  async #post<A>(name: string, json: object, options?: CallOptions): Promise<A> {
    return (await this.#transport.send<A>({ method: 'POST', path: `/platform/${name}`, json, effect: 'once' }, options)).body;
  }
}

export class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the session of the client. */
  current(options?: CallOptions): Promise<{ objectId: string; [field: string]: unknown }> {
    return this.#transport.read('/platform/sessions/me', {}, options);
  }

  /** Opens another session: of the user of the client, or with a key of the user that is named. */
  async open(userId?: string, options?: WriteOptions): Promise<Created & { sessionToken: string }> {
    const json = userId === undefined ? {} : { user: pointer('_User', userId) };
    const call = { method: 'POST', path: '/platform/sessions', json, effect: 'keyed' } as const;
    return (await this.#transport.send<Created & { sessionToken: string }>(call, options)).body;
  }
}

export class Files {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Uploads a file; returns what a File field of a record takes. Is not repeated. Takes its type from a Blob unless one is given.
   * @param data up to 32 MiB
   */
  async upload(
    name: string,
    data: Blob | ArrayBuffer | Uint8Array | string,
    { contentType, ...options }: CallOptions & { readonly contentType?: string | undefined } = {},
  ): Promise<FileValue> {
    const type = contentType || (data instanceof Blob && data.type) || 'application/octet-stream';
    const path = `/platform/files/${segment(name, 'the file')}`;
    const call = { method: 'POST', path, bytes: data as Blob, headers: { 'Content-Type': type }, effect: 'once' } as const;
    const { body } = await this.#transport.send<{ name: string; url: string }>(call, options);
    return { __type: 'File', name: body.name, url: body.url };
  }

  /** Deletes a stored file, with a key. A file that does not exist is no error. */
  async delete(file: string | { readonly name: string }, options?: CallOptions): Promise<void> {
    const path = `/platform/files/${segment(typeof file === 'string' ? file : file.name, 'the file')}`;
    await this.#transport.send({ method: 'DELETE', path, effect: 'once', isAnsweredEmpty: true }, options);
  }
}

export class Functions {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, appId: string) {
    this.#transport = transport;
    this.#path = `/functions/${segment(appId, 'appId')}`;
  }

  /** Calls a function or form by its name; returns its `result`, or the whole answer of one that has none (`web2table`). */
  async call<Result = unknown>(name: string, input: object = {}, options?: WriteOptions): Promise<Result> {
    const path = `${this.#path}/${segment(name, 'the function')}`;
    const { body } = await this.#transport.send<Result | { result: Result }>(
      { method: 'POST', path, json: input, effect: 'keyed' },
      options,
    );
    return typeof body === 'object' && body !== null && 'result' in body ? body.result : (body as Result);
  }
}
