// Z-buffer rasteriser: point samples at sub-pixel centres, Lambert shading per sample, box filter.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

// Same order as `PictureInput` in draw.py.
struct PictureInput {
    int width, height;     // pixels
    int samples;           // per side of a pixel
    double to_light[3];    // unit vector
    double intensity, ambient;
    double background[3];  // linear RGB
};

// Samples of the whole picture; sample (i, j) is at (j, i) in units of samples.
struct Samples {
    int width, height;
    std::vector<double> inverse_depth;  // 0 where nothing is drawn, 1/m
    std::vector<double> colour;         // [sample][3]; empty for a silhouette
};

// Range of integers within [least of values, greatest of values] and [0, count).
void covered(const double values[3], int count, int& first, int& last) {
    constexpr double TOLERANCE = 1e-9;
    first = std::max(0, int(std::ceil(*std::min_element(values, values + 3) - TOLERANCE)));
    last = std::min(count - 1, int(std::floor(*std::max_element(values, values + 3) + TOLERANCE)));
}

// clip(albedo (ambient + intensity max(0, n . l))) with the normal interpolated by `weights`.
void shade(const PictureInput& picture, const double* normals, const double* albedo, const double weights[3],
           double* colour) {
    double normal[3], squared = 0, cosine = 0;
    for (int c = 0; c < 3; c++) {
        normal[c] = weights[0] * normals[c] + weights[1] * normals[3 + c] + weights[2] * normals[6 + c];
        squared += normal[c] * normal[c];
        cosine += normal[c] * picture.to_light[c];
    }
    const double light = squared > 0 ? std::max(0.0, cosine / std::sqrt(squared)) : 0;
    const double brightness = picture.ambient + picture.intensity * light;
    for (int c = 0; c < 3; c++) colour[c] = std::clamp(albedo[c] * brightness, 0.0, 1.0);
}

// `corners` holds u, v in pixels and inverse depth, which is linear on the picture, of three corners.
void draw_triangle(const PictureInput& picture, const double* corners, const double* normals, const double* albedo,
                   Samples& samples) {
    constexpr double INSIDE = -1e-12;  // so that no sample on a shared edge is lost by rounding
    double x[3], y[3];
    for (int a = 0; a < 3; a++) {
        x[a] = corners[3 * a] * picture.samples - 0.5;
        y[a] = corners[3 * a + 1] * picture.samples - 0.5;
    }
    const double area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    if (area == 0) return;
    int first_row, last_row, first_column, last_column;
    covered(y, samples.height, first_row, last_row);
    covered(x, samples.width, first_column, last_column);
    for (int i = first_row; i <= last_row; i++)
        for (int j = first_column; j <= last_column; j++) {
            const double w0 = ((x[1] - j) * (y[2] - i) - (x[2] - j) * (y[1] - i)) / area;
            const double w1 = ((x[2] - j) * (y[0] - i) - (x[0] - j) * (y[2] - i)) / area;
            const double w2 = 1 - w0 - w1;
            if (w0 < INSIDE || w1 < INSIDE || w2 < INSIDE) continue;
            const double inverse_depth = w0 * corners[2] + w1 * corners[5] + w2 * corners[8];
            const std::size_t sample = std::size_t(i) * samples.width + j;
            if (inverse_depth <= samples.inverse_depth[sample]) continue;
            samples.inverse_depth[sample] = inverse_depth;
            if (samples.colour.empty()) continue;
            const double weights[3] = {w0 * corners[2] / inverse_depth, w1 * corners[5] / inverse_depth,
                                       w2 * corners[8] / inverse_depth};
            shade(picture, normals, albedo, weights, &samples.colour[3 * sample]);
        }
}

// Means over the samples of each pixel.
void filter(const PictureInput& picture, const Samples& samples, double* coverage, double* colour) {
    const int count = picture.samples * picture.samples;
    for (int i = 0; i < picture.height; i++)
        for (int j = 0; j < picture.width; j++) {
            const std::size_t pixel = std::size_t(i) * picture.width + j;
            int covered_samples = 0;
            double sum[3] = {0, 0, 0};
            for (int a = 0; a < picture.samples; a++)
                for (int b = 0; b < picture.samples; b++) {
                    const std::size_t sample =
                        std::size_t(i * picture.samples + a) * samples.width + j * picture.samples + b;
                    covered_samples += samples.inverse_depth[sample] > 0;
                    if (colour)
                        for (int c = 0; c < 3; c++) sum[c] += samples.colour[3 * sample + c];
                }
            coverage[pixel] = double(covered_samples) / count;
            if (colour)
                for (int c = 0; c < 3; c++) colour[3 * pixel + c] = sum[c] / count;
        }
}

}  // namespace

// Sets `coverage` [row][column] and, unless it is null, `colour` [row][column][3], both in 0..1.
// `corners`, `normals`: [triangle][corner][3]; `albedo`: [triangle][3]. Normals need no unit length.
extern "C" void rasterise(int triangle_count, const double* corners, const double* normals, const double* albedo,
                          const PictureInput* picture, double* coverage, double* colour) {
    Samples samples{picture->width * picture->samples, picture->height * picture->samples, {}, {}};
    const std::size_t count = std::size_t(samples.width) * samples.height;
    samples.inverse_depth.assign(count, 0);
    if (colour) {
        samples.colour.resize(3 * count);
        for (std::size_t k = 0; k < samples.colour.size(); k++) samples.colour[k] = picture->background[k % 3];
    }
    for (int k = 0; k < triangle_count; k++)
        draw_triangle(*picture, corners + 9 * k, normals + 9 * k, albedo + 3 * k, samples);
    filter(*picture, samples, coverage, colour);
}
