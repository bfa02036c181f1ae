/** A small file system in memory that a test can fill. Mounting it needs root. */
import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

export interface SmallDisk {
  path: string;
  /** Fills the disk, except for some bytes. */
  fill(exceptBytes?: number): void;
  /** Frees what `fill` took. */
  free(): void;
  /** Remounts with more room. @param options of the mount */
  enlarge(options: string): void;
}

function mount(args: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8' });
  return status === 0 ? undefined : (error?.message ?? stderr);
}

/**
 * Mounts a small file system. Returns `null` and reports it if that is not possible; disk.test.ts still simulates these faults.
 * @param options of the mount: `size=48m`, `nr_inodes=60`
 */
export function smallDisk(options: string): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'rds-test-disk-'));
  const refused = mount(['-t', 'tmpfs', '-o', options, 'tmpfs', path]);
  if (refused !== undefined) {
    rmSync(path, { recursive: true, force: true });
    console.error(`SKIPPED: no file system can be mounted here, so none is full in truth: ${refused}`);
    return null;
  }
  after(() => {
    spawnSync('umount', ['--lazy', path]);
    rmSync(path, { recursive: true, force: true });
  });
  const ballast = join(path, 'ballast');
  return {
    path,
    fill(exceptBytes = 0) {
      const file = openSync(ballast, 'a');
      const block = Buffer.alloc(1 << 20);
      try {
        for (let size = block.length; size >= 4_096; )
          try {
            writeSync(file, block, 0, size);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
            size /= 2;
          }
        ftruncateSync(file, fstatSync(file).size - exceptBytes);
      } finally {
        closeSync(file);
      }
    },
    free() {
      const file = openSync(ballast, 'a');
      ftruncateSync(file, 0);
      closeSync(file);
    },
    enlarge(more) {
      const refusedIt = mount(['-o', `remount,${more}`, path]);
      if (refusedIt !== undefined) throw new Error(refusedIt);
    },
  };
}
