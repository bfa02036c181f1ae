/** SPEC "Conventions": where the data endpoints are. */
export const prefix = '/platform';

/** Path of the console (CONTRACT "Console"). */
export const consolePath = '/console';
