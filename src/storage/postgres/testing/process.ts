/** A PostgreSQL server of the tests' own, which never outlives them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { directoryOf, type Owner, programs, unprivilegedUser } from './programs.ts';

/** How long the server may take until it accepts connections, in milliseconds. */
const START_BOUND = 60_000;

/** Durable against the end of its process, not of the machine: the data is thrown away. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  shared_buffers: '128MB',
  fsync: 'off',
  full_page_writes: 'off',
  // With less a server that is killed forgets the last values of a sequence that is new: numbers come again.
  wal_level: 'replica',
  max_wal_senders: 0,
  max_wal_size: '2GB',
  jit: 'off',
  // The shared memory of containers is small.
  dynamic_shared_memory_type: 'mmap',
};

/** Parameters of a server, by name. */
export type ServerSettings = Readonly<Record<string, string | number>>;

/**
 * Runs the server each time it is told to, and ends it and removes the directory when its own standard input ends: that is, when the
 * process that started it has ended, in whatever way.
 */
const guard = `dir=$1; shift
while read -r _; do
  { "$@" >>"$dir/log" 2>&1; echo "$?" >"$dir/ended"; } </dev/null &
done
until [ -e "$dir/ended" ]; do
  kill -QUIT "$(head -n 1 "$dir/data/postmaster.pid")" 2>/dev/null
  sleep 0.05
done
rm -rf "$dir"`;

/** A server in a temporary directory: started, stopped, started again on the same port. */
export class ServerProcess {
  readonly #owner: Owner;
  readonly #directory: string;
  readonly #programs: string;
  readonly #port: number;
  readonly #settings: ServerSettings;
  readonly #guard: ChildProcess;
  /** Who was ended last: after a crash the file still names him. */
  #ended: string | undefined;

  private constructor(owner: Owner, directory: string, place: string, port: number, ownSettings: ServerSettings) {
    this.#owner = owner;
    this.#directory = directory;
    this.#programs = place;
    this.#port = port;
    this.#settings = { ...settings, ...ownSettings };
    this.#guard = this.#makeGuard();
  }

  /**
   * Makes an empty cluster and starts it.
   * @param ownSettings beside ours, and before them
   * @param wal an empty directory of the server's user where the log of changes goes, in segments of 1 MB
   */
  static async create(ownSettings: ServerSettings = {}, wal?: string): Promise<ServerProcess> {
    const owner = await unprivilegedUser();
    for (let attempt = 1; ; attempt++) {
      const directory = await directoryOf(owner);
      try {
        const place = await programs(owner, directory);
        initialise(owner, directory, place, wal);
        const made = new ServerProcess(owner, directory, place, await freePort(), ownSettings);
        await made.start();
        return made;
      } catch (error) {
        await rm(directory, { recursive: true, force: true });
        // The port may have been taken in the meantime.
        if (attempt === 3) throw error;
      }
    }
  }

  /** Of a database of the server. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
  }

  async start(): Promise<void> {
    // A server that was killed leaves processes behind which hold its memory for a moment.
    for (const deadline = Date.now() + START_BOUND; ; await sleep(100)) {
      await rm(join(this.#directory, 'ended'), { force: true });
      this.#guard.stdin?.write('start\n');
      if (await this.#isReady(deadline)) return;
      const log = (await this.log()).slice(-2000);
      if (!/shared memory block|lock file/.test(log) || Date.now() > deadline)
        throw new Error(`PostgreSQL did not start:\n${log}`);
    }
  }

  /** Ends the server in its orderly way: sessions are cut, what was committed is written. */
  async stop(): Promise<void> {
    await this.#signal('SIGINT');
  }

  /** The server's immediate end (`pg_ctl stop -m immediate`): nothing is written, the next start repairs. */
  async quit(): Promise<void> {
    await this.#signal('SIGQUIT');
  }

  /** Waits until it has ended by itself. */
  async ended(): Promise<void> {
    this.#ended = (await this.#told()).pid;
    while ((await this.#read('ended')) === '') await sleep(20);
  }

  /** Ends the server's main process at once, as a crash would. */
  async kill(): Promise<void> {
    await this.#signal('SIGKILL');
  }

  /** Ends the server and removes all that it has. */
  async close(): Promise<void> {
    const { exitCode, signalCode } = this.#guard;
    if (exitCode !== null || signalCode !== null) return;
    const exited = once(this.#guard, 'exit');
    this.#guard.ref();
    this.#guard.stdin?.end();
    await exited;
  }

  /** What the server wrote. */
  log(): Promise<string> {
    return this.#read('log');
  }

  #makeGuard(): ChildProcess {
    const values = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const command = [join(this.#programs, 'bin', 'postgres'), '-D', join(this.#directory, 'data'), '-p', `${this.#port}`];
    const child = spawn('sh', ['-c', guard, 'guard', this.#directory, ...command, ...values], {
      ...this.#owner,
      cwd: this.#directory,
      env: environment,
      // The interrupt of a terminal is for the tests, which end the server when they are done.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    // The server does not keep a process alive that is done.
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    return child;
  }

  /** Whether it accepts connections; false where it ended. Its file says so. */
  async #isReady(deadline: number): Promise<boolean> {
    while (Date.now() < deadline && (await this.#read('ended')) === '') {
      const { pid, status } = await this.#told();
      if (status === 'ready' && pid !== this.#ended) return true;
      await sleep(20);
    }
    return false;
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const { pid } = await this.#told();
    if (!pid) throw new Error('the server does not run');
    this.#ended = pid;
    process.kill(Number(pid), signal);
    while ((await this.#read('ended')) === '') await sleep(20);
  }

  async #told(): Promise<{ pid: string | undefined; status: string | undefined }> {
    const [pid, , , , , , , status] = (await this.#read('data/postmaster.pid')).split('\n');
    return { pid, status: status?.trim() };
  }

  #read(name: string): Promise<string> {
    return readFile(join(this.#directory, name), 'utf8').catch(() => '');
  }
}

const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

function initialise(owner: Owner, directory: string, place: string, wal?: string): void {
  const args = ['-D', join(directory, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  if (wal !== undefined) args.push('-X', wal, '--wal-segsize=1');
  const { status, stderr } = spawnSync(join(place, 'bin', 'initdb'), args, {
    ...owner,
    cwd: directory,
    env: environment,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`initdb failed:\n${stderr}`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
