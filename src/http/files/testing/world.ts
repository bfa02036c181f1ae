import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { fail } from '../../../errors/fail.ts';
import type { Files, OpenFile } from '../../../files/index.ts';
import { receive } from '../../../files/uploads/store-upload.ts';
import { Observations } from '../../../observe/index.ts';
import { Users } from '../../../users/index.ts';
import type { HttpServices } from '../../endpoint/services.ts';
import { HttpServer } from '../../server.ts';
import { emptySystem } from '../../testing/system.ts';

export const id = '0123456789abcdef0123456789abcdef';
/** Headers that name the system. */
export const named = { 'X-Platform-Application-Id': 'app' };

/**
 * A server with one system, `app`, whose files the test provides. A file that begins with `bad` has a wrong type; one that begins with `late` exceeds
 * the read timeout.
 */
export class World {
  readonly system = emptySystem();
  /** The file that reads return. */
  bytes: () => Readable | null = () => Readable.from([Buffer.from('0123456789')]);
  contentType = 'text/plain; charset=utf-8';
  size = 10;
  /** The last upload. */
  stored: { fileName: string; saidType: string | undefined; text: string } | undefined;
  /** Lines of the log, and faults that were reported. */
  logged: string[] = [];
  /** Spooled bodies. */
  spooled = 0;
  url = '';
  #http: HttpServer | undefined;
  #spool = '';

  async start(): Promise<void> {
    this.#spool = await mkdtemp(join(tmpdir(), 'rds-spool-'));
    const rateLimits = { functions: 0, login: 0 };
    const options = { host: '127.0.0.1', port: 0, trustProxy: false, queryTimeout: 1_000, functionBodyBytes: 1, rateLimits };
    this.#http = await HttpServer.create(this.#services(), options);
    this.url = await this.#http.listen();
  }

  async close(): Promise<void> {
    await this.#http?.close(1_000);
    assert.deepEqual(await readdir(this.#spool), []);
    await rm(this.#spool, { recursive: true });
  }

  /** Resets everything. */
  reset(): void {
    this.stored = undefined;
    this.spooled = 0;
    this.logged = [];
    this.size = 10;
    this.contentType = 'text/plain; charset=utf-8';
    this.bytes = () => Readable.from([Buffer.from('0123456789')]);
  }

  post(body: string, headers: Record<string, string> = named, name = 'a.txt'): Promise<Response> {
    return fetch(`${this.url}/platform/files/${name}`, { method: 'POST', headers, body });
  }

  get(headers: Record<string, string> = {}, path = '/static/app/a%20b.txt'): Promise<Response> {
    return fetch(this.url + path, { headers });
  }

  /** Waits until the system is released. */
  async idle(): Promise<void> {
    for (let n = 0; n < 200 && this.system.held > 0; n++) await wait(10);
    assert.equal(this.system.held, 0);
  }

  #files(): Partial<Files> {
    const open = async (_system: unknown, name: string): Promise<OpenFile | null> => {
      if (name === 'none') return null;
      const { size, contentType } = this;
      const file = { id, name: `${id}_${name}`, size, contentType, isPublic: true, isPrivate: false, createdAt: 0, updatedAt: 0 };
      return { file, read: async () => this.bytes() };
    };
    return {
      async admit() {},
      spool: (sent, most) => {
        this.spooled++;
        return receive(sent, this.#spool, most, () => {});
      },
      upload: async (_system, fileName, saidType, sent) => {
        let text = '';
        for await (const piece of sent) {
          text += piece;
          if (text.startsWith('bad')) fail('invalidFileType');
          if (text.startsWith('late')) fail('timeout');
          if (text.length > 20_000_000) fail('fileTooLarge');
        }
        this.stored = { fileName, saidType, text };
        return { name: `${id}_a`, url: `http://base/${id}_a` };
      },
      openPublic: open,
      openUpload: open,
      openPrivate: async () => 'signIn',
    };
  }

  #services(): HttpServices {
    const { system } = this;
    const acquire = (appId: string) => {
      if (appId !== 'app') return undefined;
      system.hold();
      return system;
    };
    const systems = { isKnown: (appId: string) => appId === 'app', tryAcquire: () => undefined, acquire, enter: acquire };
    return {
      systems,
      users: new Users(1),
      resets: {},
      files: this.#files(),
      hooks: { observers: [], rules: new Map(), files: {} },
      log: pino({ level: 'info' }, { write: (line) => void this.logged.push(line) }),
      conditions: { met: (what: string) => void this.logged.push(what), over() {} },
      observations: new Observations(),
      trustProxy: false,
      addresses: { base: 'http://base' },
    } as unknown as HttpServices;
  }
}
