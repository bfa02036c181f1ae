/** A PostgreSQL server for tests, which never outlives them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Owner, serverPlaces, unprivilegedUser } from './programs.ts';

/** Maximum time until the server accepts connections, in milliseconds. */
const START_TIMEOUT_MS = 60_000;

/** Durable against the end of its process, but not of the machine: the data is temporary. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  shared_buffers: '128MB',
  fsync: 'off',
  full_page_writes: 'off',
  // With a lower level, a killed server loses the last values of a new sequence, and numbers repeat.
  wal_level: 'replica',
  max_wal_senders: 0,
  max_wal_size: '2GB',
  jit: 'off',
  // Containers have little shared memory.
  dynamic_shared_memory_type: 'mmap',
};

/** Server parameters by name. */
export type ServerSettings = Readonly<Record<string, string | number>>;

/**
 * Starts the server on each line of standard input. When its standard input ends, that is, when the process that started it has ended in any way,
 * it stops the server and removes the directory.
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

/** A server in a temporary directory: can be stopped and started again on the same port. */
export class ServerProcess {
  readonly #owner: Owner;
  readonly #directory: string;
  readonly #programs: string;
  readonly #port: number;
  readonly #settings: ServerSettings;
  readonly #guard: ChildProcess;
  /** Process id of the server that was stopped last: after a crash, postmaster.pid still contains it. */
  #ended: string | undefined;

  private constructor(owner: Owner, directory: string, programs: string, port: number, ownSettings: ServerSettings) {
    this.#owner = owner;
    this.#directory = directory;
    this.#programs = programs;
    this.#port = port;
    this.#settings = { ...settings, ...ownSettings };
    this.#guard = this.#makeGuard();
  }

  /**
   * Creates an empty cluster and starts it.
   * @param ownSettings override the defaults above
   * @param wal an empty directory, owned by the server's user, for the WAL, in segments of 1 MB
   */
  static async create(ownSettings: ServerSettings = {}, wal?: string): Promise<ServerProcess> {
    const owner = await unprivilegedUser();
    for (let attempt = 1; ; attempt++) {
      const { directory, programs } = await serverPlaces(owner);
      try {
        initialise(owner, directory, programs, wal);
        const made = new ServerProcess(owner, directory, programs, await freePort(), ownSettings);
        await made.start();
        return made;
      } catch (error) {
        await rm(directory, { recursive: true, force: true });
        // Retry: the port may have been taken meanwhile.
        if (attempt === 3) throw error;
      }
    }
  }

  /** URL of a database of the server. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
  }

  async start(): Promise<void> {
    // Processes of a killed server hold its shared memory for a moment.
    for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(100)) {
      await rm(join(this.#directory, 'ended'), { force: true });
      this.#guard.stdin?.write('start\n');
      if (await this.#isReady(deadline)) return;
      const log = (await this.log()).slice(-2000);
      if (!/shared memory block|lock file/.test(log) || Date.now() > deadline)
        throw new Error(`PostgreSQL did not start:\n${log}`);
    }
  }

  /** Fast shutdown: sessions are terminated, committed data is written. */
  async stop(): Promise<void> {
    await this.#signal('SIGINT');
  }

  /** Immediate shutdown (`pg_ctl stop -m immediate`): nothing is written, the next start recovers. */
  async quit(): Promise<void> {
    await this.#signal('SIGQUIT');
  }

  /** Waits until the server has ended by itself. */
  async ended(): Promise<void> {
    this.#ended = (await this.#readPidFile()).pid;
    while ((await this.#read('ended')) === '') await sleep(20);
  }

  /** Kills the server's main process, as a crash would. */
  async kill(): Promise<void> {
    await this.#signal('SIGKILL');
  }

  /** Stops the server and removes its data. */
  async close(): Promise<void> {
    const { exitCode, signalCode } = this.#guard;
    if (exitCode !== null || signalCode !== null) return;
    const exited = once(this.#guard, 'exit');
    this.#guard.ref();
    this.#guard.stdin?.end();
    await exited;
  }

  /** Returns the server's log. */
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
      // A terminal's interrupt must reach only the tests, which stop the server when they are done.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.on('error', () => {});
    child.stdin.on('error', () => {});
    // The child must not keep this process alive.
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    return child;
  }

  /** Returns whether it accepts connections, according to postmaster.pid; false if it ended. */
  async #isReady(deadline: number): Promise<boolean> {
    while (Date.now() < deadline && (await this.#read('ended')) === '') {
      const { pid, status } = await this.#readPidFile();
      if (status === 'ready' && pid !== this.#ended) return true;
      await sleep(20);
    }
    return false;
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const { pid } = await this.#readPidFile();
    if (!pid) throw new Error('the server does not run');
    this.#ended = pid;
    process.kill(Number(pid), signal);
    while ((await this.#read('ended')) === '') await sleep(20);
  }

  async #readPidFile(): Promise<{ pid: string | undefined; status: string | undefined }> {
    const [pid, , , , , , , status] = (await this.#read('data/postmaster.pid')).split('\n');
    return { pid, status: status?.trim() };
  }

  #read(name: string): Promise<string> {
    return readFile(join(this.#directory, name), 'utf8').catch(() => '');
  }
}

const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

function initialise(owner: Owner, directory: string, programs: string, wal?: string): void {
  const args = ['-D', join(directory, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  if (wal !== undefined) args.push('-X', wal, '--wal-segsize=1');
  const { status, stderr } = spawnSync(join(programs, 'bin', 'initdb'), args, {
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
