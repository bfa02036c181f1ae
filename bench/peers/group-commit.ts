import type { DatabaseSync, StatementSync } from 'node:sqlite';

interface Waiting {
  readonly work: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Executes the writes of one turn of the event loop in one commit, each in a savepoint of its own. Writes are answered when they are durable. */
export class GroupCommit {
  readonly #statements: Record<'begin' | 'savepoint' | 'release' | 'undo' | 'commit' | 'rollback', StatementSync>;
  #waiting: Waiting[] = [];

  constructor(database: DatabaseSync) {
    this.#statements = {
      begin: database.prepare('BEGIN IMMEDIATE'),
      savepoint: database.prepare('SAVEPOINT w'),
      release: database.prepare('RELEASE w'),
      undo: database.prepare('ROLLBACK TO w'),
      commit: database.prepare('COMMIT'),
      rollback: database.prepare('ROLLBACK'),
    };
  }

  /** Executes a write in the next commit. @param work synchronous; undone if it throws */
  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.push({ work, resolve, reject }) === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const group = this.#waiting;
    this.#waiting = [];
    try {
      this.#statements.begin.run();
      const answers = group.map((write) => this.#attempt(write));
      this.#statements.commit.run();
      for (const answer of answers) answer();
    } catch (error) {
      this.#statements.rollback.run();
      for (const { reject } of group) reject(error);
    }
  }

  #attempt({ work, resolve, reject }: Waiting): () => void {
    this.#statements.savepoint.run();
    try {
      const result = work() as never;
      return () => resolve(result);
    } catch (error) {
      this.#statements.undo.run();
      return () => reject(error);
    } finally {
      this.#statements.release.run();
    }
  }
}
