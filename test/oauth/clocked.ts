/** A service whose clock can be sent ahead. The suites of this folder share it. */
import { anyEngine, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { clockAhead, jumpClock } from '../support/users.ts';

/** More than the hour of an access token. Two are more than the twelve hours of a browser's session, one is not. */
const JUMP_MS = 7 * 3_600_000;

export const clockedService = (): Promise<Service> => sharedService(anyEngine[0] ?? 'sqlite', clockAhead(0, JUMP_MS));

/** Sends the clock ahead by seven hours. */
export const jump = (service: Service): Promise<void> => jumpClock(service, JUMP_MS);
