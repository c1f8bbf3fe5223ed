/* xlm-mpi: the normal distribution function and its density, for vectors of floats. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GELU and its derivative need Φ(x) and φ(x) of the same x. A vector error function computes Φ at six times the cost of an
 * exponential, and φ needs the exponential too. Both can be computed from the exponential alone:
 *     φ(x) = exp(-x²/2) / √2π,    Φ(-|x|) = exp(-x²/2) t P(t),    t = 1 / (1 + 0.35 |x|),    Φ(|x|) = 1 - Φ(-|x|).
 * P, of degree 8, interpolates erfcx(|x|/√2) / 2t at the Chebyshev nodes of t for 0 <= |x| <= 14.5, beyond which the exponential
 * is zero; relative error below 5e-8 before rounding. (The form is that of Hastings 1955, known from Abramowitz and Stegun
 * 7.1.26; the coefficients are our own.) */
static inline vec normal_distribution(vec x, vec *density)
{
    static const float P[] = {0.139618635f,   0.1399143339f,  0.1194250927f, 0.1072124994f,  -0.02732191058f,
                              0.1655101648f, -0.2614105432f, 0.1467839861f, -0.02973227581f};
    const vec e = exponential(times(times(x, x), all(-0.5f)));
    const vec t = divide(all(1), fma(magnitude(x), all(0.35f), all(1)));
    vec p = all(P[8]);
    for (int i = 7; i >= 0; i--)
        p = fma(p, t, all(P[i]));
    const vec below = times(times(e, t), p);
    *density = times(e, all(0.39894228f));
    return where_negative(x, below, plus(all(1), minus(below)));
}
