/**
 * Errors of a cluster's coordinator about its nodes. The coordinator reports a node that it lost with severity ERROR and the codes by which a server
 * ends its own session; here the session goes on. They are recognised on connections to a coordinator alone (`markLostNode`), since other servers
 * report such codes about themselves.
 */

/** SQLSTATEs by which a node ends or refuses a session: shutdown, crash, starting, too many connections, and connection exceptions. */
const NODE_CODES = new Set(['08000', '08001', '08003', '08004', '08006', '08007', '57P01', '57P02', '57P03', '53300']);

/** Internal errors (XX000) of a coordinator that lost the connection to a node. */
const NODE_LOST =
  /connection (?:marked as essential|to the remote node|not open|pointer is NULL)|could not commit transaction for shard|closed the connection|lost synchronization|could not (?:send|receive)|SSL (?:error|SYSCALL|connection)|^$/;

/** Host and port of a node in a coordinator's message, or in its context. */
const NODE_ADDRESS = /(?:^|[\s@])([^\s@]+:\d{1,5})(?=\s|$)/;

/** Context of an error that a node reported to the coordinator. */
const ON_NODE = /while executing command on /;

/** A node from which the coordinator gets no answer, so that the connection to the coordinator was given up, or was not used. */
export class NodeUnanswered extends Error {
  /** `host:port`. */
  readonly lostNode: string;

  constructor(node: string) {
    super(`the node ${node} does not answer`);
    this.name = 'NodeUnanswered';
    this.lostNode = node;
  }
}

/**
 * SQLSTATEs of errors of a node that a coordinator reports as internal ones (XX000): it sends rows of INSERT … SELECT by COPY, and passes on only the
 * text of its error.
 */
const COPY_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint/, '23505'],
  [/violates not-null constraint$/, '23502'],
  [/^index row (?:size|requires)/, '54000'],
  [/^row is too big/, '54000'],
  [/^invalid byte sequence for encoding/, '22021'],
  [/ is out of range/, '22003'],
];

interface ServerError {
  readonly severity?: unknown;
  code?: unknown;
  readonly routine?: unknown;
  readonly message?: unknown;
  readonly where?: unknown;
  lostNode?: string;
}

/** Gives an error of COPY to a node, as a coordinator reports it, its SQLSTATE again. */
export function restoreCode(error: Error): void {
  const { code, routine, message } = error as ServerError;
  if (code !== 'XX000' || routine !== 'ReportCopyError') return;
  const [, restored] = COPY_ERRORS.find(([text]) => text.test(String(message))) ?? [];
  if (restored !== undefined) (error as ServerError).code = restored;
}

/** Marks an error of a coordinator by which it reports that it could not reach a node, or lost it. Returns the same error. */
export function markLostNode(error: Error): Error {
  const { severity, code, message, where } = error as ServerError;
  if (severity !== 'ERROR' || typeof code !== 'string') return error;
  if (!NODE_CODES.has(code) && !(code === 'XX000' && NODE_LOST.test(String(message)))) return error;
  const named = [message, where].map((text) => NODE_ADDRESS.exec(String(text ?? ''))?.[1]);
  (error as ServerError).lostNode = named.find((node) => node !== undefined) ?? '';
  return error;
}

/** Returns `host:port` of the node that an error reports as lost, '' if it names none; `undefined` for other errors. */
export function lostNodeIn(error: unknown): string | undefined {
  const { lostNode } = (error ?? {}) as ServerError;
  return typeof lostNode === 'string' ? lostNode : undefined;
}

/** Whether a node reported the error, so that it concerns the systems there only. */
export function isFromNode(error: unknown): boolean {
  const { severity, where } = (error ?? {}) as ServerError;
  return severity === 'ERROR' && typeof where === 'string' && ON_NODE.test(where);
}
