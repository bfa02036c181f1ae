/** An action could not be done, for a reason that its row in `_syslogTriggers` tells: no more than a user of the system may know. */
export class ActionFailed extends Error {
  override readonly name = 'ActionFailed';
}
