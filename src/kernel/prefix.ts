/** SPEC "Conventions": where the data endpoints are. */
export const prefix = '/platform';
