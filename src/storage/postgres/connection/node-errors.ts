/** SQLSTATEs by which a node ends or refuses a session: shutdown, crash, starting, too many connections, and connection exceptions. */
const NODE_CODES = new Set(['08000', '08001', '08003', '08004', '08006', '08007', '57P01', '57P02', '57P03', '53300']);

/** Internal errors (XX000) of a coordinator that lost the connection to a node. */
const NODE_LOST =
  /connection (?:marked as essential|to the remote node|not open|pointer is NULL)|could not commit transaction for shard|closed the connection|lost synchronization|could not (?:send|receive)|SSL (?:error|SYSCALL|connection)|^$/;

/** Host and port of a node in a coordinator's message, or in its context. */
const NODE_ADDRESS = /(?:^|[\s@])([^\s@]+:\d{1,5})(?=\s|$)/;

/** A node from which the coordinator gets no answer, so that the connection to the coordinator was given up. */
export class NodeUnanswered extends Error {
  /** `host:port`. */
  readonly node: string;

  constructor(node: string) {
    super(`the node ${node} does not answer`);
    this.name = 'NodeUnanswered';
    this.node = node;
  }
}

interface ServerError {
  readonly severity?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly where?: unknown;
}

/**
 * Whether the coordinator of a cluster reports that it could not reach a node, or lost it. Its own session goes on: a server that ends the session
 * itself reports the same codes as FATAL.
 * @param error the database's own error
 */
export function isNodeLost(error: unknown): boolean {
  const { severity, code, message } = (error ?? {}) as ServerError;
  if (severity !== 'ERROR' || typeof code !== 'string') return false;
  return NODE_CODES.has(code) || (code === 'XX000' && typeof message === 'string' && NODE_LOST.test(message));
}

/** Returns host and port of the node that such an error names; `undefined` if it names none. */
export function nodeNamedIn(error: unknown): string | undefined {
  if (error instanceof NodeUnanswered) return error.node;
  const { message, where } = (error ?? {}) as ServerError;
  return [message, where].map((text) => NODE_ADDRESS.exec(String(text ?? ''))?.[1]).find((node) => node !== undefined);
}
