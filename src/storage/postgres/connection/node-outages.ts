import type { Conditions } from '../../../observe/index.ts';
import type { Unreachable } from '../../engine.ts';
import { Recovery } from '../../recovery.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from './database.ts';
import { lostNodeOf, unavailable } from './map-error.ts';
import { NodeUnanswered } from './node-errors.ts';
import { locationsFrom, locationsStatement, noLocations } from './node-locations.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

const LOST = 'a node of the database cannot be reached';

/** Intervals of checks of one node, in milliseconds: after errors about it, and while work of its systems gets no answer. */
const CHECK_AFTER_ERROR_MS = 250;
const CHECK_INTERVAL_MS = 2000;
/** Interval of reading the locations of the systems again, in milliseconds, while a node is away: systems may be moved from it. */
const LOCATE_INTERVAL_MS = 5000;
/** The same while the location of a system that is used is unknown. */
const LOCATE_UNKNOWN_MS = 2000;

/** Settings and collaborators of `NodeOutages`. */
export interface NodeOutagesSettings {
  /** As in `Address`. On other servers nothing is tracked. */
  readonly isCoordinator: boolean;
  readonly conditions: Pick<Conditions, 'met' | 'over'> | undefined;
  /** Runs a query of the coordinator on a connection that no other work waits for. */
  readonly query: (statement: Statement) => Promise<readonly Row[]>;
}

/**
 * Tracks which nodes of a cluster are away. An error makes a node suspect, and the coordinator is asked; only if it gets no answer is the node away.
 * Then work of the systems there is refused at once, so that it takes no connection from the work of others, and one probe shows its return.
 * Reference: faults.md#nodes-of-a-cluster.
 */
export class NodeOutages {
  readonly #settings: NodeOutagesSettings;
  readonly #recoveries = new Map<string, Recovery>();
  readonly #checkedAt = new Map<string, number>();
  #locations = noLocations;
  #locating: Promise<void> | undefined;
  #locatedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(settings: NodeOutagesSettings) {
    this.#settings = settings;
  }

  /** Returns the node where a system lies; `undefined` if it lies on none, or that is not known yet. @param system '' for work of no system */
  nodeOf(system: string): string | undefined {
    if (!this.#settings.isCoordinator || system === '') return undefined;
    const node = this.#locations.bySchema.get(system);
    if (node === undefined) void this.#locate(LOCATE_UNKNOWN_MS);
    return node;
  }

  /** Records an error by which the coordinator has lost a node. @returns whether work of the system is refused from now on */
  met(error: unknown, system: string | undefined): boolean {
    if (!this.#settings.isCoordinator || this.#isClosed) return false;
    const named = lostNodeOf(error);
    const nodeOf = () => (named && this.#locations.nodes.has(named) ? named : this.#nodeOfKnown(system));
    void this.#suspectNode(nodeOf, CHECK_AFTER_ERROR_MS, error);
    return system !== undefined && this.#awayNodeOf(system) !== undefined;
  }

  /** @throws unavailable if the node where a system lies is away */
  require(system: string): void {
    if (this.#recoveries.size === 0) return;
    const node = this.#awayNodeOf(system);
    if (node !== undefined) throw unavailable(new NodeUnanswered(node));
  }

  /** Resolves once the node where a system lies is back; `undefined` if it is not away. */
  whenBack(system: string): Promise<void> | undefined {
    const node = this.#awayNodeOf(system);
    return node === undefined ? undefined : this.#recoveries.get(node)?.whenBack();
  }

  /**
   * Must be called regularly with connections that have got no answer for a second. Checks the nodes for whose systems they work, and ends those
   * that wait for a node which is away.
   */
  checkSilent(links: Iterable<PipelinedConnection>): void {
    for (const link of links) {
      const { system } = link;
      if (system === undefined) continue;
      const node = this.#awayNodeOf(system);
      if (node !== undefined) link.destroy(new NodeUnanswered(node));
      else this.suspect(system);
    }
  }

  /** Checks the node where a system lies, in the background. */
  suspect(system: string): void {
    if (this.#settings.isCoordinator) void this.#suspectNode(() => this.#nodeOfKnown(system), CHECK_INTERVAL_MS);
  }

  /** Nodes that are away, and systems that lie there. */
  get unreachable(): Unreachable {
    const away = new Set([...this.#recoveries].filter(([, { isAway }]) => isAway).map(([node]) => node));
    if (away.size === 0) return { nodes: 0, systems: 0 };
    return { nodes: away.size, systems: [...this.#locations.bySchema.values()].filter((node) => away.has(node)).length };
  }

  close(): void {
    this.#isClosed = true;
    for (const recovery of this.#recoveries.values()) recovery.close();
  }

  #nodeOfKnown(system: string | undefined): string | undefined {
    return system === undefined ? undefined : this.#locations.bySchema.get(system);
  }

  #awayNodeOf(system: string): string | undefined {
    const node = this.#nodeOfKnown(system);
    return node !== undefined && this.#recoveries.get(node)?.isAway ? node : undefined;
  }

  /**
   * @param nodeOf returns the node once the locations are known
   * @param error to report, if there was one
   */
  async #suspectNode(nodeOf: () => string | undefined, intervalMs: number, error?: unknown): Promise<void> {
    if (nodeOf() === undefined) await this.#locate(LOCATE_UNKNOWN_MS);
    const node = nodeOf();
    if (error !== undefined)
      this.#settings.conditions?.met(LOST, node === undefined ? {} : { node }, (error as Error).cause ?? error);
    const now = performance.now();
    if (node === undefined || now - (this.#checkedAt.get(node) ?? Number.NEGATIVE_INFINITY) < intervalMs) return;
    this.#checkedAt.set(node, now);
    await this.#check(node).catch((error) => {
      if (error instanceof NodeUnanswered) this.#setAway(node, error);
    });
  }

  #setAway(node: string, error: NodeUnanswered): void {
    if (this.#isClosed) return;
    this.#settings.conditions?.met(LOST, { node }, error);
    let recovery = this.#recoveries.get(node);
    if (!recovery) {
      const probe = async () => {
        await this.#locate(LOCATE_INTERVAL_MS);
        // A node that was removed from the cluster has no systems to wait for.
        if (this.#locations.nodes.has(node)) await this.#check(node);
      };
      recovery = new Recovery(probe, () => {
        this.#recoveries.delete(node);
        this.#settings.conditions?.over({ node }, LOST);
      });
      this.#recoveries.set(node, recovery);
    }
    recovery.met();
  }

  /** @throws NodeUnanswered if the coordinator gets no answer of a node; unavailable if the coordinator itself cannot be reached */
  async #check(node: string): Promise<void> {
    const at = node.lastIndexOf(':');
    const params = [node.slice(0, at), Number(node.slice(at + 1))];
    const [row] = await this.#settings.query({ text: 'SELECT citus_check_connection_to_node($1, $2::integer)', params });
    if (row?.[0] !== 1) throw new NodeUnanswered(node);
  }

  /** Reads where the systems lie, unless that was done within the last milliseconds. Never rejects. */
  #locate(withinMs: number): Promise<void> {
    if (performance.now() - this.#locatedAt < withinMs) return this.#locating ?? Promise.resolve();
    this.#locatedAt = performance.now();
    this.#locating = this.#settings.query(locationsStatement).then(
      (rows) => {
        this.#locations = locationsFrom(rows);
      },
      () => {},
    );
    return this.#locating;
  }
}
